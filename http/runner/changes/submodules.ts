import { cp, mkdir, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GitFailed, git } from "../checkout/git.js";
import { findInner, type InnerRepository } from "./inner-repository.js";
import { type Entry, GITLINK, type LeftOut, type Place, pathIn } from "./place.js";

/** Whether a folder, read through this git directory, has the same content as the commit. */
export type HoldsCommit = (
  place: { readonly gitDir: string; readonly folder: string },
  commit: string,
) => Promise<boolean>;

/** A submodule, with the commit that the folder started with; null for a new submodule. */
export interface Submodule {
  readonly path: string;
  readonly begun: Entry | null;
}

const ABSENT = "it is a submodule that is not checked out, and what was put into its folder is not taken";
const CHANGED = "it is a submodule with changes that are not committed in it";
const UNPUSHED = "it is a submodule at a commit that none of its remote's branches holds";
const UNREADABLE = "it is a submodule whose repository cannot be read";

/**
 * Decides what to do with a submodule. Returns its commit if the commit is the folder's whole content and others can
 * fetch it. Otherwise returns the path with the reason to leave it out.
 */
export async function judgeSubmodule(
  place: Place,
  { path, begun }: Submodule,
  holds: HoldsCommit,
): Promise<Entry | LeftOut | null> {
  const inner = await findInner(place, path);
  if (inner === null) return (await isEmpty(pathIn(place, path))) ? begun : { path, why: ABSENT };
  try {
    const gitDir = await viewOf(place, inner, path);
    const options = { env: { GIT_DIR: gitDir }, signal: place.signal };
    const commit = (await git(gitDir, ["rev-parse", "--verify", "HEAD^{commit}"], options)).trim();
    const folder = pathIn(place, path).toString("utf8");
    if (!(await holds({ gitDir, folder }, commit))) return { path, why: CHANGED };
    if (commit === begun?.oid) return begun;
    const list = ["for-each-ref", "--count=1", "--format=%(refname)", "--contains", commit, "refs/remotes"];
    if ((await git(gitDir, list, options)) === "") return { path, why: UNPUSHED };
    return { mode: GITLINK, oid: commit };
  } catch (error) {
    if (place.signal.aborted) throw error;
    return { path, why: UNREADABLE };
  }
}

/**
 * Creates a git directory that shares only the commits and branches of another one. It has none of the other's
 * configuration, hooks and filters, which could make git run programs.
 */
async function viewOf(place: Place, { gitDir: theirs, isWorktree }: InnerRepository, path: string): Promise<string> {
  if (isWorktree || /[\p{Cc}"]/u.test(theirs)) throw new GitFailed(`${path} has a repository that is not read`);
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

async function isEmpty(folder: Buffer): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length === 0;
}
