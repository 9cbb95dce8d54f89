/**
 * Turns the current content of a folder into a git tree.
 *
 * 1. The tree includes everything that git can store. If git cannot store a path, the path is left out, with a
 *    reason, and the rest is still included.
 * 2. A file with the same bytes as at the checkout is unchanged, even if git would now convert the bytes to something
 *    else.
 * 3. A nested repository becomes plain files. A submodule becomes its commit, if others can fetch that commit;
 *    otherwise the submodule's change is left out.
 * 4. Configuration, hooks and filters of the repositories in the folder have no effect.
 */
import { type FileHandle, lstat, mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { copyIndex, git } from "../checkout/git.js";
import { addPaths } from "./add-paths.js";
import { type AgentIndex, readAgentIndex } from "./agent-index.js";
import { listInside, listOthers, listTracked } from "./candidates.js";
import { findSubmodules, lookAt } from "./find-submodules.js";
import { findInner } from "./inner-repository.js";
import { type Candidates, inspect, MAX_FILE_BYTES } from "./inspect.js";
import { findLargeFiles } from "./large-files.js";
import { readDeclared, readIndexed, undeclare } from "./modules-file.js";
import {
  type Entry,
  entriesIn,
  GITLINK,
  gitAt,
  inOrder,
  isInside,
  type LeftOut,
  originalsAt,
  type Place,
  pathIn,
  putEntries,
  READ_ONLY,
  toRecords,
} from "./place.js";
import { type HoldsCommit, judgeSubmodule, type Submodule } from "./submodules.js";

/** A folder, and the runner's own bare git directory. That directory's index has the files of the checkout. */
export interface Source {
  readonly gitDir: string;
  readonly folder: string;
}

export interface Gathered {
  readonly tree: string;
  readonly leftOut: readonly LeftOut[];
}

const WORKTREE = "it is another worktree of a git repository; its files do not belong to the run";
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
  const declared = await readDeclared(place);
  const theirs = await readAgentIndex(place);
  const submodules = await findSubmodules(place, declared, theirs);
  const paths = new Set(submodules.map(({ path }) => path));
  // Remove submodules from the index. Otherwise git would read `.gitmodules`, which it may be unable to parse.
  const links = [...place.laidOut].flatMap(([path, { mode }]) => (mode === GITLINK ? [path] : []));
  await removeAll(place, [...links, ...originalsAt(place, paths).keys()]);
  const { files, worktrees, leftOut } = await findChanges(place, paths, theirs);
  const { candidates, gone, leftOut: unreadable } = await inspect(place, files);
  await removeAll(place, gone);
  const refused = await takeFiles(place, candidates);
  await putEntries(place, originalsAt(place, worktrees));
  const further = [...worktrees].map((path) => ({ path, why: WORKTREE }));
  const incomplete = await takeSubmodules(place, submodules);
  const undeclared = await undeclare(place, declared, incomplete);
  const tree = (await gitAt(place, ["write-tree"])).trim();
  return { tree, leftOut: inOrder([...leftOut, ...unreadable, ...refused, ...further, ...incomplete, ...undeclared]) };
}

function removeAll(place: Place, paths: readonly string[]): Promise<void> {
  return putEntries(place, new Map(paths.map((path) => [path, null])));
}

/** Adds the files and links that may have changed. */
async function takeFiles(place: Place, all: Candidates): Promise<readonly LeftOut[]> {
  const files = new Map([...all].filter(([, { mode }]) => mode !== "120000"));
  const tooLarge: string[] = [];
  const entries = await findUnchanged(place, files);
  const rest = new Map([...files].filter(([path]) => !entries.has(path)));
  const large = await findLargeFiles(place, rest);
  for (const [path, entry] of large.entries) entries.set(path, entry);
  const settled = new Set([...entries.keys(), ...large.leftOut.map(({ path }) => path)]);
  for (const [path, { bytes }] of rest) if (bytes > MAX_FILE_BYTES && !settled.has(path)) tooLarge.push(path);
  for (const path of tooLarge) settled.add(path);
  await putEntries(place, entries);
  const refused = await addPaths(
    place,
    [...all.keys()].filter((path) => !settled.has(path)),
  );
  return [...large.leftOut, ...tooLarge.map((path) => ({ path, why: TOO_LARGE })), ...refused];
}

/** Finds the files with the same bytes as at the checkout. Returns their original entries, with the current mode. */
async function findUnchanged(place: Place, files: Candidates): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  for (const [path, { begun, bytes, mode }] of files) {
    if (begun?.mode.startsWith("100") === true && bytes <= MAX_FILE_BYTES) entries.set(path, { ...begun, mode });
  }
  const same = await findAsLaidOut(place, [...entries.keys()]);
  return new Map([...entries].filter(([path]) => same.has(path)));
}

/** Adds the commit of each submodule. If a submodule is left out, its path keeps the original entries. */
async function takeSubmodules(place: Place, submodules: readonly Submodule[]): Promise<readonly LeftOut[]> {
  if (submodules.length === 0) return [];
  const declared = await readIndexed(place);
  const holds: HoldsCommit = (inner, commit) => holdsCommit(inner, commit, place.signal);
  const leftOut: LeftOut[] = [];
  const entries = new Map<string, Entry>();
  for (const submodule of submodules) {
    const judged = await judgeSubmodule(place, submodule, { declared, holds });
    if ("why" in judged) leftOut.push(judged);
    else entries.set(submodule.path, judged);
  }
  const originals = originalsAt(place, new Set(leftOut.map(({ path }) => path)));
  await putEntries(place, new Map([...entries, ...originals]));
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

/** How many bytes of each file to compare at once. */
const PART_BYTES = 64 * 1024;

/**
 * Finds the files whose bytes are still those that the runner checked out. Git instead compares the bytes that it would
 * store. Those bytes can differ although the file is unchanged, if the stored bytes do not follow the path's
 * attributes.
 */
async function findAsLaidOut(place: Place, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const folder = join(place.scratch, "laid-out");
  await mkdir(folder, { recursive: true });
  try {
    // Git reads the attributes only from the index here, as it did at the checkout.
    const options = { folder, env: { GIT_INDEX_FILE: place.begun }, input: toRecords(paths) };
    await gitAt(place, ["checkout-index", "--force", "--quiet", "-z", "--stdin"], options);
    const same = new Set<string>();
    for (const path of paths) if (await isSame(pathIn(place, path), pathIn({ folder }, path))) same.add(path);
    return same;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function isSame(left: Buffer, right: Buffer): Promise<boolean> {
  const stats = await Promise.all([lstat(left), lstat(right)]).catch(() => null);
  const [one, other] = stats ?? [];
  if (one?.isFile() !== true || other?.isFile() !== true || one.size !== other.size) return false;
  const files: FileHandle[] = [];
  try {
    for (const path of [left, right]) files.push(await open(path, READ_ONLY));
    const [first, second] = files;
    return first !== undefined && second !== undefined && (await hasSameBytes(first, second));
  } catch {
    return false;
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}

async function hasSameBytes(left: FileHandle, right: FileHandle): Promise<boolean> {
  const parts = [Buffer.alloc(PART_BYTES), Buffer.alloc(PART_BYTES)] as const;
  for (let at = 0; ; ) {
    const [one, other] = await Promise.all([
      left.read(parts[0], 0, PART_BYTES, at),
      right.read(parts[1], 0, PART_BYTES, at),
    ]);
    if (one.bytesRead !== other.bytesRead) return false;
    if (one.bytesRead === 0) return true;
    if (parts[0].compare(parts[1], 0, one.bytesRead, 0, one.bytesRead) !== 0) return false;
    at += one.bytesRead;
  }
}

/** The paths outside of submodules that may have changed. */
interface Changes {
  /** Files and links, with their original entries; null for a new one. */
  readonly files: ReadonlyMap<string, Entry | null>;
  /** Folders that are additional worktrees of a repository. */
  readonly worktrees: ReadonlySet<string>;
  readonly leftOut: readonly LeftOut[];
}

/** Finds what may have changed outside the submodules, and removes the paths that no longer exist from the index. */
async function findChanges(place: Place, submodules: ReadonlySet<string>, theirs: AgentIndex): Promise<Changes> {
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
 * Finds nested repositories that are included even if an ignore rule matches them: those that the agent added by force,
 * and those in place of a tracked file.
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
