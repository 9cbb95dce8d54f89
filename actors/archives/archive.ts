import { createHash } from "node:crypto";
import type { Pack } from "./pack.js";

/** Why a commit is not kept. */
export type ArchiveRefusal = "commit-gone" | "archive-too-large" | "archives-full";

/** A commit that a replay set needs, as it is kept outside its repository. Written by its actor. */
export interface ArchiveRow {
  /** By repository and commit; see {@link toArchiveId}. */
  readonly id: string;
  readonly repository: string;
  readonly commit: string;
  /**
   * `pending`: a runner is to look for it, or sends it. `served`: a branch of the repository holds it, nothing is kept.
   * `kept`: its pack is stored. `refused`: for good.
   */
  readonly standing: "pending" | "served" | "kept" | "refused";
  /** Why it is refused; of a pending one, what stands in its way now. */
  readonly refusal: ArchiveRefusal | null;
  /** Since when it is pending, in milliseconds since 1970; null when it is not. */
  readonly pendingSinceMs: number | null;
  /** The pack that is stored, or that comes in; null for none. Its bytes are counted in the workspace's room. */
  readonly pack: Pack | null;
}

/** The id of the archive of a commit. */
export function toArchiveId(repository: string, commit: string): string {
  return `arc_${createHash("sha256").update(`${repository}\0${commit}`).digest("hex").slice(0, 32)}`;
}
