import { spawnSync } from "node:child_process";
import { CommandError } from "./exit-codes.js";

/** Variables that make git work on another repository. Git sets some of them for its hooks. */
const OTHER_REPOSITORY = /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX|OBJECT_DIRECTORY|NAMESPACE)$/;
/** Maximum size of git's output, in bytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;

interface GitResult {
  /** The exit code; null if a signal ended git. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the person's git in a folder, with their configuration and English messages. Throws a {@link CommandError} if
 * git cannot run.
 */
export function runGit(folder: string, args: readonly string[], input = ""): GitResult {
  const own = Object.entries(process.env).filter(([name]) => !OTHER_REPOSITORY.test(name));
  const { status, stdout, stderr, error } = spawnSync("git", args, {
    cwd: folder,
    input,
    env: { ...Object.fromEntries(own), LC_ALL: "C" },
    encoding: "utf8",
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (error === undefined) return { status, stdout, stderr };
  throw new CommandError(`cannot run git: ${error.message}`);
}

/** Git failed. The message is git's own. */
export class GitRefused extends Error {
  override readonly name = "GitRefused";
}

/** Like {@link runGit}, but returns the output without the last line break. Throws {@link GitRefused} if git fails. */
export function askGit(folder: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = runGit(folder, args);
  if (status === 0) return stdout.replace(/\n$/, "");
  throw new GitRefused(stderr.trim());
}

/**
 * Like {@link askGit}, but returns null if git fails, for example because a setting, branch or commit does not exist.
 */
export function askGitOrNull(folder: string, ...args: readonly string[]): string | null {
  try {
    return askGit(folder, ...args);
  } catch (error) {
    if (error instanceof GitRefused) return null;
    throw error;
  }
}
