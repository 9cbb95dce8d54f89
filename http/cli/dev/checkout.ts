import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { CommandError } from "../command/exit-codes.js";
import { askGit, askGitOrNull, GitRefused } from "../command/git.js";
import { DEV_FOLDER } from "../command/places.js";

/** The person's checkout. Agents work on copies of it. */
export interface Checkout {
  /** The top folder: of the repository, or of the worktree. */
  readonly top: string;
  readonly branch: string;
  /** The email address in git's configuration; null if there is none. */
  readonly email: string | null;
  /** The name in git's configuration; null if there is none. */
  readonly name: string | null;
}

/**
 * Finds the checkout that a folder is in. Throws a {@link CommandError} if the folder is in none, or if agents cannot
 * start from it: without a commit, or with a detached HEAD.
 */
export function findCheckout(folder: string): Checkout {
  const top = findTop(folder);
  const branch = askGitOrNull(top, "symbolic-ref", "--quiet", "--short", "HEAD");
  const commit = askGitOrNull(top, "rev-parse", "--quiet", "--verify", "HEAD^{commit}");
  if (commit === null) {
    throw new CommandError(
      `${top} has no commit, and agents start from a commit: create one, then run signalbox dev again`,
    );
  }
  if (branch === null) {
    throw new CommandError(
      `HEAD is detached at ${commit.slice(0, 10)}, and agents start from a branch: run git switch <branch>, or ` +
        "git switch -c <name> for a new one",
    );
  }
  const email = askGitOrNull(top, "config", "--get", "user.email");
  const name = askGitOrNull(top, "config", "--get", "user.name");
  return { top, branch, email, name };
}

function findTop(folder: string): string {
  try {
    const top = askGit(folder, "rev-parse", "--show-toplevel");
    if (top !== "") return top;
  } catch (error) {
    if (!(error instanceof GitRefused)) throw error;
    // For any other reason, such as a folder that belongs to another user, report git's message.
    if (!/not a git repository|must be run in a work tree/.test(error.message)) throw new CommandError(error.message);
  }
  throw new CommandError(
    `${folder} is not in a git repository with files: change to one, or make one with git init and a first commit`,
  );
}

/** Counts the files whose changes agents do not see, because they are in no commit. */
export function countUncommitted(top: string): number {
  const listed = askGit(top, "status", "--porcelain", "-z", "--no-renames");
  return listed.split("\0").filter((entry) => entry !== "").length;
}

const EXCLUDED = `/${DEV_FOLDER}/`;

/**
 * Makes git ignore the folder of `signalbox dev` in this repository and its worktrees. Changes no file that git tracks.
 */
export function exclude(top: string): void {
  const path = resolve(top, askGit(top, "rev-parse", "--git-path", "info/exclude"));
  const text = readText(path);
  if (text.split(/\r?\n/).includes(EXCLUDED)) return;
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `${text === "" || text.endsWith("\n") ? "" : "\n"}${EXCLUDED}\n`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

/** A name for the checkout's repository, in the form of code hosts: `local/<folder>`. */
export function toRepositoryName(top: string): string {
  const name = basename(top)
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/\.{2,}/g, ".");
  return `local/${/^\.?(git)?$/i.test(name) ? "repository" : name}`;
}
