import { lstat, readdir } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { type Place, pathIn, readSmallFile } from "./place.js";

/** A repository nested in a folder of files. */
export interface InnerRepository {
  /** Absolute path of the repository's git directory. */
  readonly gitDir: string;
  /** Whether the folder is an additional worktree of a repository elsewhere. */
  readonly isWorktree: boolean;
}

/** Finds the repository in the folder at this path. Returns null if there is none. */
export async function findInner(place: Place, path: string): Promise<InnerRepository | null> {
  const folder = pathIn(place, path).toString("utf8").replace(/\/$/, "");
  const at = join(folder, ".git");
  const found = await lstat(at).catch(() => null);
  const link = found?.isFile() === true ? ((await readSmallFile(at, 8_192))?.toString("utf8") ?? "") : null;
  const [, target] = /^gitdir: ([^\n]+)/.exec(link ?? "") ?? [];
  if (found === null || (link !== null && target === undefined)) return null;
  const gitDir = target === undefined || isAbsolute(target) ? (target ?? at) : resolve(folder, target);
  if (!(await isThere(join(gitDir, "HEAD")))) return null;
  return { gitDir, isWorktree: await isThere(join(gitDir, "commondir")) };
}

/** Whether a folder has no entries. True for a folder that cannot be read. */
export async function isEmptyFolder(folder: Buffer): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length === 0;
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
