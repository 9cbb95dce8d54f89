import type { AgentIndex } from "./agent-index.js";
import { listInside, listOthers, listTracked } from "./candidates.js";
import { lookAt } from "./find-submodules.js";
import { findInner } from "./inner-repository.js";
import { type Entry, GITLINK, isInside, type LeftOut, type Place, putEntries } from "./place.js";

/** The paths outside of submodules that may have changed. */
export interface Changes {
  /** Files and links, with their original entries; null for a new one. */
  readonly files: ReadonlyMap<string, Entry | null>;
  /** Folders that are additional worktrees of a repository. */
  readonly worktrees: ReadonlySet<string>;
  readonly leftOut: readonly LeftOut[];
}

/** Finds what may have changed outside the submodules, and removes the paths that no longer exist from the index. */
export async function findChanges(place: Place, submodules: ReadonlySet<string>, theirs: AgentIndex): Promise<Changes> {
  const worktrees = new Set<string>();
  const isPlain = async (path: string) => {
    const folder = path.replace(/\/$/, "");
    if (submodules.has(folder) || isInside(folder, submodules)) return false;
    const isWorktree = (await findInner(place, folder))?.isWorktree === true;
    if (isWorktree) worktrees.add(folder);
    return !isWorktree;
  };
  const tracked = await listTracked(place);
  const removed = tracked.removed.filter((path) => !theirs.outside.has(path));
  await putEntries(place, new Map(removed.map((path) => [path, null])));
  const listed = [await listOthers(place, isPlain)];
  for (const folder of await findIgnored(place, theirs, removed)) {
    if (await isPlain(folder)) listed.push(await listInside(place, folder, isPlain));
  }
  const files = new Map<string, Entry | null>(tracked.changed);
  const forced = theirs.forced.filter((path) => !isLink(theirs, path) && !place.laidOut.has(path));
  for (const path of [...listed.flatMap((others) => others.files), ...forced]) {
    if (!files.has(path) && !isInside(path, submodules)) files.set(path, null);
  }
  const leftOut = [...tracked.leftOut, ...listed.flatMap((others) => others.leftOut), ...theirs.leftOut];
  return { files, worktrees, leftOut };
}

/**
 * Finds nested repositories that count although they may be ignored: those that the agent added by force, and those in
 * place of a tracked file.
 */
async function findIgnored(place: Place, theirs: AgentIndex, removed: readonly string[]): Promise<readonly string[]> {
  const found = theirs.forced.filter((path) => isLink(theirs, path));
  for (const path of removed) {
    if ((await lookAt(place, path)) === "folder" && (await findInner(place, path)) !== null) found.push(path);
  }
  const folders: string[] = [];
  for (const path of new Set(found)) if ((await lookAt(place, path)) === "folder") folders.push(path);
  return folders;
}

function isLink({ entries }: AgentIndex, path: string): boolean {
  return entries?.get(path)?.mode === GITLINK;
}
