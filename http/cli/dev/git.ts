import { execFile } from "node:child_process";
import { CommandError } from "../command/exit-codes.js";

/** Variables that make git work on another repository. Git sets some of them for its hooks. */
const OTHER_REPOSITORY = /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX|OBJECT_DIRECTORY|NAMESPACE)$/;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Git failed. The message is git's own. */
export class GitRefused extends Error {
  override readonly name = "GitRefused";
}

/**
 * Runs the person's git in a folder, with their configuration. Returns its output without the last line break. Rejects
 * with {@link GitRefused}, or with a {@link CommandError} if git is not installed.
 */
export function askGit(folder: string, ...args: readonly string[]): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OTHER_REPOSITORY.test(name)));
  return new Promise((resolve, reject) => {
    execFile("git", args, { cwd: folder, env, maxBuffer: MAX_OUTPUT_BYTES }, (error, out, err) => {
      if (error === null) return resolve(out.replace(/\n$/, ""));
      if (error.code === "ENOENT") return reject(new CommandError("git is not installed"));
      reject(new GitRefused(err.trim()));
    });
  });
}

/**
 * Like {@link askGit}, but returns null if git fails, for example because a setting, branch or commit does not exist.
 */
export async function askGitOrNull(folder: string, ...args: readonly string[]): Promise<string | null> {
  try {
    return await askGit(folder, ...args);
  } catch (error) {
    if (error instanceof GitRefused) return null;
    throw error;
  }
}
