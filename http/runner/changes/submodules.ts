import { cp, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GitFailed, git } from "../checkout/git.js";
import { findInner, type InnerRepository, isEmptyFolder } from "./inner-repository.js";
import { type Modules, readRemotes } from "./modules-file.js";
import { type Entry, GITLINK, type LeftOut, type Place, pathIn } from "./place.js";

/** Whether a folder, read through this git directory, has the same content as the commit. */
export type HoldsCommit = (
  place: { readonly gitDir: string; readonly folder: string },
  commit: string,
) => Promise<boolean>;

export interface Submodule {
  readonly path: string;
  /** The entry of the submodule's commit at the start, possibly at another path. Null for a new submodule. */
  readonly begun: Entry | null;
}

const ABSENT = "it is a submodule that is not checked out; files added to its folder are ignored";
const CHANGED = "it is a submodule with uncommitted changes";
const UNPUSHED = "it is a submodule at a commit that is on none of its remote's branches";
const FOREIGN = "it is a submodule at a commit that is not from its URL in `.gitmodules`";
const UNDECLARED = "it is a submodule whose section of `.gitmodules` is ignored";
const UNREADABLE = "it is a submodule whose repository cannot be read";

/**
 * Decides what to do with a submodule. Returns the original entry if the submodule is unchanged or not checked out, and
 * otherwise an entry for its current commit. A new commit must be the folder's whole content, and it must be possible
 * to fetch the commit from the declared URL. If a condition fails, returns the path with the reason to leave it out.
 */
export async function judgeSubmodule(
  place: Place,
  { path, begun }: Submodule,
  { declared, holds }: { readonly declared: Modules; readonly holds: HoldsCommit },
): Promise<Entry | LeftOut> {
  const sections = declared.get(path);
  if (sections === undefined && place.laidOut.get(path)?.mode !== GITLINK) return { path, why: UNDECLARED };
  const inner = await findInner(place, path);
  if (inner === null) {
    return begun !== null && (await isEmptyFolder(pathIn(place, path))) ? begun : { path, why: ABSENT };
  }
  try {
    const gitDir = await readView(place, inner, path);
    const options = { env: { GIT_DIR: gitDir }, signal: place.signal };
    const commit = (await git(gitDir, ["rev-parse", "--verify", "HEAD^{commit}"], options)).trim();
    const folder = pathIn(place, path).toString("utf8");
    if (!(await holds({ gitDir, folder }, commit))) return { path, why: CHANGED };
    if (commit === begun?.oid) return begun;
    const remotes = await readRemotes(place, inner.gitDir);
    const fitting = remotes.filter(([, url]) => sections?.some((section) => isSameUrl(section.url, url)) ?? true);
    if (fitting.length === 0) return { path, why: FOREIGN };
    const refs = fitting.map(([name]) => `refs/remotes/${name}`);
    const list = ["for-each-ref", "--count=1", "--format=%(refname)", "--contains", commit, ...refs];
    if ((await git(gitDir, list, options)) === "") return { path, why: UNPUSHED };
    return { mode: GITLINK, oid: commit };
  } catch (error) {
    if (place.signal.aborted) throw error;
    return { path, why: UNREADABLE };
  }
}

/**
 * Creates a git directory with the objects and refs of a nested repository, and returns its path. The new directory has
 * none of the repository's configuration, hooks and filters, which could make git run programs. Rejects with
 * `GitFailed` for a worktree, or if the repository's path has a quote or a control character.
 */
async function readView(place: Place, { gitDir: theirs, isWorktree }: InnerRepository, path: string): Promise<string> {
  if (isWorktree || /[\p{Cc}"]/u.test(theirs)) throw new GitFailed(`${path} has an unsupported repository`);
  const { signal } = place;
  const gitDir = await mkdtemp(join(place.scratch, "module-"));
  const of = { env: { GIT_DIR: place.gitDir }, signal };
  const format = (await git(gitDir, ["rev-parse", "--show-object-format"], of)).trim();
  const sha256 = format === "sha256" ? ["--object-format=sha256"] : [];
  await git(gitDir, ["init", "--quiet", "--bare", "--template=", ...sha256, "."], { signal });
  for (const name of ["HEAD", "packed-refs", "shallow", "refs"]) {
    const isOptional = name === "packed-refs" || name === "shallow";
    await cp(join(theirs, name), join(gitDir, name), { recursive: true, force: true }).catch((error: unknown) => {
      if (!isOptional) throw error;
    });
  }
  await mkdir(join(gitDir, "objects/info"), { recursive: true });
  await writeFile(join(gitDir, "objects/info/alternates"), `${join(theirs, "objects")}\n`);
  return gitDir;
}

/**
 * Whether both URLs name the same repository. Compares only host and path, without a `.git` at the end. A relative URL
 * only has to match the end of the other URL.
 */
function isSameUrl(declared: string | null, url: string): boolean {
  if (declared === null) return false;
  const [one, other] = [plainUrl(declared), plainUrl(url)];
  // Git resolves a relative URL against an address that is not stored in the folder. So compare only the end of the
  // URL.
  const [up] = /^(\.\.?\/)+/.exec(one) ?? [];
  return up === undefined ? one === other : other.endsWith(`/${one.slice(up.length)}`);
}

function plainUrl(url: string): string {
  const path = url.replace(/^file:\/\//, "").replace(/(\.git)?\/*$/, "");
  const [, host, rest] = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^:/]+)(?::\d+\/|:\/*|\/)(.*)$/i.exec(path) ?? [];
  return host === undefined || host.startsWith(".") ? path : `${host.toLowerCase()}/${rest}`;
}
