/**
 * What a folder of files holds now, as a tree of git.
 *
 * 1. Everything is taken that git can hold. What it cannot hold is left out, with the path and the reason; it loses nothing
 *    else.
 * 2. What is byte for byte as it was laid out is no change, whatever attributes would make of it.
 * 3. A repository inside is taken as its files. A submodule is taken whole, as a commit that others can get, or not at all.
 * 4. Nothing of a repository in the folder is configuration, hook or filter here.
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

/** A folder, and a bare git directory of the runner's own whose index has the files as they were laid out. */
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

/** See above. Rejects with `GitFailed` where git cannot read the folder, or the signal is aborted. */
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
 * The submodules that the folder began with and still has. One that is named no more is none any more: its files are like
 * others from then on.
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

/** Takes files and links that may have changed. */
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

/** Takes each submodule whole, or leaves it out with the lines that name it. */
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
    // Its folder is gone, or something else now.
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
