/**
 * Turns the current content of a folder into a git tree.
 *
 * 1. It includes everything that git can store. It leaves out each path that git cannot store, with a reason, and still
 *    includes the rest.
 * 2. A file with the bytes of the checkout is unchanged, whatever its attributes would convert it to.
 * 3. A nested repository becomes plain files. A submodule becomes its commit, if others can fetch that commit;
 *    otherwise its change is left out.
 * 4. Nothing in the folder's repositories acts as configuration, hook or filter here.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { copyIndex, git } from "../checkout/git.js";
import { addPaths } from "./add-paths.js";
import { findAsLaidOut } from "./as-laid-out.js";
import { listForced, listOthers, listTracked } from "./candidates.js";
import { findInner } from "./inner-repository.js";
import { type Candidates, inspect, MAX_FILE_BYTES } from "./inspect.js";
import { findLargeFiles } from "./large-files.js";
import { type Declared, readDeclared, undeclare } from "./modules-file.js";
import { type Entry, entriesIn, GITLINK, gitAt, inOrder, type LeftOut, type Place, putEntries } from "./place.js";
import { judgeSubmodule, type Submodule } from "./submodules.js";

/** A folder, and the runner's own bare git directory. That directory's index has the files of the checkout. */
export interface Source {
  readonly gitDir: string;
  readonly folder: string;
}

export interface Gathered {
  readonly tree: string;
  readonly leftOut: readonly LeftOut[];
}

const WORKTREE = "it is a further worktree of a git repository, whose files are not the run's";
const TOO_LARGE = `it is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`;

/**
 * Turns a folder into a tree, as this file's header describes. Rejects with `GitFailed` if git cannot read the folder,
 * or if the signal is aborted.
 */
export async function gather(source: Source, signal: AbortSignal): Promise<Gathered> {
  const scratch = await mkdtemp(join(source.gitDir, "gather-"));
  const [begun, index] = [join(source.gitDir, "index"), join(scratch, "index")];
  try {
    await copyIndex(begun, index);
    const at = { ...source, scratch, index, signal };
    return await fill({ ...at, begun, laidOut: await entriesIn(at, begun) });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function fill(place: Place): Promise<Gathered> {
  const leftOut: LeftOut[] = [];
  const declared = await readDeclared(place);
  const links = await findLinks(place, declared);
  const submodules: Submodule[] = [...links];
  const others = await listOthers(place, async (path) => {
    const folder = path.slice(0, -1);
    const isSubmodule = declared.now.has(folder);
    const isWorktree = !isSubmodule && (await findInner(place, folder))?.isWorktree === true;
    if (isSubmodule) submodules.push({ path: folder, begun: null });
    if (isWorktree) leftOut.push({ path: folder, why: WORKTREE });
    return !isSubmodule && !isWorktree;
  });
  const tracked = await listTracked(place);
  const found = new Map<string, Entry | null>(tracked.changed);
  for (const path of [...others.files, ...(await listForced(place))]) if (!found.has(path)) found.set(path, null);
  const { candidates, gone, leftOut: unreadable } = await inspect(place, found);
  leftOut.push(...tracked.leftOut, ...others.leftOut, ...unreadable);
  await putEntries(place, new Map([...tracked.removed, ...gone].map((path) => [path, null])));
  leftOut.push(...(await takeFiles(place, candidates)));
  leftOut.push(...(await takeSubmodules(place, submodules, declared)));
  const tree = (await gitAt(place, ["write-tree"])).trim();
  return { tree, leftOut: inOrder(leftOut) };
}

/**
 * Lists the submodules that the folder started with and still has. If `.gitmodules` no longer names a submodule, its
 * files count as ordinary files.
 */
async function findLinks(place: Place, { now, begun }: Declared): Promise<readonly Submodule[]> {
  const links: Submodule[] = [];
  for (const [path, entry] of place.laidOut) {
    if (entry.mode !== GITLINK) continue;
    if (begun.has(path) && !now.has(path)) await putEntries(place, new Map([[path, null]]));
    else links.push({ path, begun: entry });
  }
  return links;
}

/** Adds the files and links that may have changed. */
async function takeFiles(place: Place, all: Candidates): Promise<readonly LeftOut[]> {
  const files = new Map([...all].filter(([, { mode }]) => mode !== "120000"));
  const large = await findLargeFiles(place, files);
  const entries = new Map<string, Entry>(large.pointers);
  const settled = new Set([...entries.keys(), ...large.leftOut.map(({ path }) => path)]);
  const tooLarge = [...files].filter(([path, { bytes }]) => bytes > MAX_FILE_BYTES && !settled.has(path));
  for (const [path] of tooLarge) settled.add(path);
  const before = [...files].filter(([path, { begun }]) => !settled.has(path) && begun?.mode.startsWith("100") === true);
  const same = await findAsLaidOut(
    place,
    before.map(([path]) => path),
  );
  for (const [path, { begun, mode }] of before)
    if (same.has(path) && begun !== null) entries.set(path, { ...begun, mode });
  await putEntries(place, entries);
  const rest = [...all.keys()].filter((path) => !settled.has(path) && !entries.has(path));
  const refused = await addPaths(place, rest);
  return [...large.leftOut, ...tooLarge.map(([path]) => ({ path, why: TOO_LARGE })), ...refused];
}

/** Adds the commit of each submodule, or leaves out the submodule and its section in `.gitmodules`. */
async function takeSubmodules(
  place: Place,
  submodules: readonly Submodule[],
  declared: Declared,
): Promise<readonly LeftOut[]> {
  if (submodules.length === 0) return [];
  const present = await entriesIn(place, place.index);
  const leftOut: LeftOut[] = [];
  const entries = new Map<string, Entry>();
  for (const submodule of submodules) {
    // The submodule's folder no longer exists, or is no submodule any more.
    if (submodule.begun !== null && present.get(submodule.path)?.mode !== GITLINK) continue;
    const judged = await judgeSubmodule(place, submodule, (inner, commit) => holdsCommit(inner, commit, place.signal));
    if (judged === null) continue;
    if ("why" in judged) leftOut.push(judged);
    else entries.set(submodule.path, judged);
  }
  await putEntries(place, entries);
  await undeclare(place, declared, leftOut);
  return leftOut;
}

async function holdsCommit(inner: Source, commit: string, signal: AbortSignal): Promise<boolean> {
  const env = { GIT_DIR: inner.gitDir, GIT_WORK_TREE: inner.folder, GIT_INDEX_FILE: join(inner.gitDir, "index") };
  const tree = (await git(inner.gitDir, ["rev-parse", "--verify", `${commit}^{tree}`], { env, signal })).trim();
  await git(inner.folder, ["read-tree", tree], { env, signal });
  await git(inner.folder, ["update-index", "--refresh", "-q"], { env, signal }).catch(() => undefined);
  const gathered = await gather(inner, signal);
  return gathered.tree === tree && gathered.leftOut.length === 0;
}
