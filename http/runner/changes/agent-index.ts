import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type Entry, entriesFrom, gitAt, isMissing, type LeftOut, listRecords, type Place, pathIn } from "./place.js";

/** The agent's changes, as the index of the agent's own clone records them. */
export interface AgentIndex {
  /** The entries of the index, by path. Null if the index is unchanged since the checkout, or unreadable. */
  readonly entries: ReadonlyMap<string, Entry> | null;
  /** Missing paths that a sparse checkout keeps out of the folder. They do not count as removed. */
  readonly outside: ReadonlySet<string>;
  /**
   * Paths in the index that match an ignore rule. If the checkout did not have such a path, the agent added it by
   * force.
   */
  readonly forced: readonly string[];
  /**
   * Paths outside the folder's sparse checkout whose entry in the agent's index differs from the entry at the checkout.
   */
  readonly leftOut: readonly LeftOut[];
}

const OUTSIDE = "it was changed outside the folder's sparse checkout; only files in the folder are read";

/** Reads the index of the agent's clone. The clone's objects are used only to expand a sparse index. */
export async function readAgentIndex(place: Place): Promise<AgentIndex> {
  const index = join(place.folder, ".git/index");
  const nothing = { entries: null, outside: new Set<string>(), forced: [], leftOut: [] };
  if (!(await isChangedFile(index, place.begun))) return nothing;
  const env = { GIT_INDEX_FILE: index, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(place.folder, ".git/objects") };
  const list = async (...args: string[]) => listRecords(await gitAt(place, ["ls-files", ...args, "-z"], { env }));
  try {
    const records = await list("--stage", "-t");
    const forced = await list("--cached", "--ignored", "--exclude-standard");
    const skipped = records.filter((record) => record.startsWith("S "));
    return {
      entries: entriesFrom(records.map(withoutTag)),
      forced: forced.filter((path) => !/^\/|(^|\/)\.\.(\/|$)/.test(path)),
      ...(await findOutside(place, entriesFrom(skipped.map(withoutTag)))),
    };
  } catch (error) {
    if (place.signal.aborted) throw error;
    return nothing;
  }
}

/** Finds the paths that a sparse checkout skips and that are missing. */
async function findOutside(
  place: Place,
  skipped: ReadonlyMap<string, Entry>,
): Promise<Pick<AgentIndex, "outside" | "leftOut">> {
  const outside = new Set<string>();
  const leftOut: LeftOut[] = [];
  for (const [path, { mode, oid }] of skipped) {
    if (!(await isAbsent(pathIn(place, path)))) continue;
    const original = place.laidOut.get(path);
    outside.add(path);
    if (original?.oid !== oid || original.mode !== mode) leftOut.push({ path, why: OUTSIDE });
  }
  return { outside, leftOut };
}

/** Removes the tag at the start of a record of `git ls-files -t`. */
function withoutTag(record: string): string {
  return record.slice(2);
}

function isAbsent(path: Buffer): Promise<boolean> {
  return lstat(path).then(() => false, isMissing);
}

/**
 * Whether the file at `path` differs in size or date from its copy at `copied`. False if `path` is not a file: on a
 * pipe, for example, git would block forever.
 */
async function isChangedFile(path: string, copied: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found?.isFile() !== true) return false;
  const { size, mtimeMs } = await lstat(copied);
  return found.size !== size || Math.abs(found.mtimeMs - mtimeMs) >= 1;
}
