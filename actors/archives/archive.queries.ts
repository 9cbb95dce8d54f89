import type { Reading } from "../../storage/store.js";
import { type ArchiveRefusal, type ArchiveRow, toArchiveId } from "./archive.js";
import type { WantedCommit } from "./archive.messages.js";
import { archiveChunks, archives } from "./archive.table.js";
import { countChunks, type Pack } from "./pack.js";

/**
 * Maximum number of wanted commits to send to a runner when it connects. The service asks for the remaining commits
 * later, when it asks all runners again.
 */
const MAX_LISTED = 200;

/** Counters of the process (`RuntimeStats.counters`). */
export const archiveCounters = { kept: "archives.kept", refused: "archives.refused" } as const;

/** Finds the archive of a commit; undefined if nobody needs it. */
export function findArchive(
  reading: Reading,
  workspaceId: string,
  { repository, commit }: { readonly repository: string; readonly commit: string },
): ArchiveRow | undefined {
  return archives.get(reading, workspaceId, toArchiveId(repository, commit));
}

/** Finds the archive with this id; undefined if there is none. */
export function findArchiveById(reading: Reading, workspaceId: string, id: string): ArchiveRow | undefined {
  return archives.get(reading, workspaceId, id);
}

/** A completely stored pack. */
export interface StoredPack extends Pack {
  readonly archiveId: string;
}

/** Finds the stored pack of a commit; null if there is none. */
export function findStoredPack(
  reading: Reading,
  workspaceId: string,
  of: { readonly repository: string; readonly commit: string },
): StoredPack | null {
  const archive = findArchive(reading, workspaceId, of);
  if (archive === undefined || archive.standing !== "kept" || archive.pack === null) return null;
  return { archiveId: archive.id, ...archive.pack };
}

/** Finds a chunk of a stored pack; undefined if there is none. */
export function findChunk(
  reading: Reading,
  workspaceId: string,
  { id, standing, pack }: ArchiveRow,
  n: number,
): Uint8Array | undefined {
  if (standing !== "kept" || pack === null || n >= countChunks(pack)) return undefined;
  return archiveChunks.get(reading, workspaceId, id, n);
}

/** Lists the pending commits, at most {@link MAX_LISTED}. */
export function listWanted(reading: Reading, workspaceId: string): readonly WantedCommit[] {
  const { rows } = archives.page(reading, workspaceId, { standing: "pending" }, { limit: MAX_LISTED });
  return rows.map(({ id, repository, commit }) => ({ archiveId: id, repository, commit }));
}

type Commits = readonly { readonly repository: string; readonly commit: string }[];

/** Returns why one of the commits is refused; null if none is refused. */
export function findRefusal(reading: Reading, workspaceId: string, commits: Commits): ArchiveRefusal | null {
  const found = commits.flatMap((commit) => findArchive(reading, workspaceId, commit) ?? []);
  return found.find(({ standing }) => standing === "refused")?.refusal ?? null;
}

/**
 * Returns the combined archive state of the needed commits. A commit without an archive counts as pending.
 *
 * 1. Null if any commit is refused.
 * 2. Otherwise `pending` if any commit is pending.
 * 3. Otherwise `kept` if any pack is kept.
 * 4. Otherwise null: branches hold all commits, or there are no commits.
 */
export function findKeeping(reading: Reading, workspaceId: string, commits: Commits): "pending" | "kept" | null {
  const standings = commits.map((commit) => findArchive(reading, workspaceId, commit)?.standing ?? "pending");
  if (standings.includes("refused")) return null;
  if (standings.includes("pending")) return "pending";
  return standings.includes("kept") ? "kept" : null;
}
