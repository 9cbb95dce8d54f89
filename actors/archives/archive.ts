import { createHash } from "node:crypto";
import type { Pack } from "./pack.js";

/** The reason why a commit is not archived. */
export type ArchiveRefusal = "commit-gone" | "archive-too-large" | "archives-full";

/**
 * A commit that a replay or replay set needs, and the state of its archive. Only the archive's actor writes the row.
 */
export interface ArchiveRow {
  /** Derived from `repository` and `commit`; see {@link toArchiveId}. */
  readonly id: string;
  readonly repository: string;
  readonly commit: string;
  /**
   * The state of the archive:
   *
   * - `pending`: runners look for the commit, or a runner sends it.
   * - `served`: a branch of the repository holds the commit, so nothing is stored.
   * - `kept`: the commit's pack is stored.
   * - `refused`: the commit is not archived. This state is final.
   */
  readonly standing: "pending" | "served" | "kept" | "refused";
  /** The reason for a refusal; for a pending commit, the last obstacle. Null if there is none. */
  readonly refusal: ArchiveRefusal | null;
  /** When the archive became pending, in milliseconds since 1970; null if it is not pending. */
  readonly pendingSinceMs: number | null;
  /** The stored or incoming pack; null for none. Its bytes count against the workspace's quota. */
  readonly pack: Pack | null;
}

/** Returns the id of a commit's archive. */
export function toArchiveId(repository: string, commit: string): string {
  return `arc_${createHash("sha256").update(`${repository}\0${commit}`).digest("hex").slice(0, 32)}`;
}
