import { lstat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { type Place, pathIn, readSmallFile } from "./place.js";

/** A repository inside a folder of files. */
export interface InnerRepository {
  /** Its git directory, an absolute path. */
  readonly gitDir: string;
  /** Whether it is a further worktree of a repository that is elsewhere. */
  readonly isWorktree: boolean;
}

/** The repository of a folder that a place has at this path; null where it has none. */
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

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
