import type { Reading } from "../../storage/store.js";
import { type ArchiveRefusal, type ArchiveRow, toArchiveId } from "./archive.js";
import type { WantedCommit } from "./archive.messages.js";
import { archiveChunks, archives } from "./archive.table.js";
import { countChunks, type Pack } from "./pack.js";

/** Most commits that a runner is told of when it connects; later ones it is told of when they are asked for again. */
const MAX_TOLD = 200;

/** Counters of the process (`RuntimeStats.counters`). */
export const archiveCounters = { kept: "archives.kept", refused: "archives.refused" } as const;

/** The archive of a commit; undefined when nobody needs it. */
export function findArchive(
  reading: Reading,
  workspaceId: string,
  { repository, commit }: { readonly repository: string; readonly commit: string },
): ArchiveRow | undefined {
  return archives.get(reading, workspaceId, toArchiveId(repository, commit));
}

/** The archive with this id; undefined for none. */
export function findArchiveById(reading: Reading, workspaceId: string, id: string): ArchiveRow | undefined {
  return archives.get(reading, workspaceId, id);
}

/** A pack that is stored, whole. */
export interface KeptPack extends Pack {
  readonly archiveId: string;
}

/** The stored pack of a commit; null for none. */
export function findKeptPack(
  reading: Reading,
  workspaceId: string,
  of: { readonly repository: string; readonly commit: string },
): KeptPack | null {
  const archive = findArchive(reading, workspaceId, of);
  if (archive === undefined || archive.standing !== "kept" || archive.pack === null) return null;
  return { archiveId: archive.id, ...archive.pack };
}

/** A chunk of a stored pack; undefined when there is none. */
export function findChunk(
  reading: Reading,
  workspaceId: string,
  { id, standing, pack }: ArchiveRow,
  n: number,
): Uint8Array | undefined {
  if (standing !== "kept" || pack === null || n >= countChunks(pack)) return undefined;
  return archiveChunks.get(reading, workspaceId, id, n);
}

/** The commits that runners are to look for now. */
export function listWanted(reading: Reading, workspaceId: string): readonly WantedCommit[] {
  const { rows } = archives.page(reading, workspaceId, { standing: "pending" }, { limit: MAX_TOLD });
  return rows.map(({ id, repository, commit }) => ({ archiveId: id, repository, commit }));
}

type Commits = readonly { readonly repository: string; readonly commit: string }[];

/** Why one of the commits is kept nowhere; null when none is refused. */
export function findRefusal(reading: Reading, workspaceId: string, commits: Commits): ArchiveRefusal | null {
  const found = commits.flatMap((commit) => findArchive(reading, workspaceId, commit) ?? []);
  return found.find(({ standing }) => standing === "refused")?.refusal ?? null;
}

/**
 * How commits that something needs are kept, all together; null while their repositories hold them, where one is refused,
 * and for none. One that was not looked for yet is pending.
 */
export function findKeeping(reading: Reading, workspaceId: string, commits: Commits): "pending" | "kept" | null {
  const standings = commits.map((commit) => findArchive(reading, workspaceId, commit)?.standing ?? "pending");
  if (standings.includes("refused")) return null;
  if (standings.includes("pending")) return "pending";
  return standings.includes("kept") ? "kept" : null;
}
