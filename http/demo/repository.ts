import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface CreatedRepository {
  /** Describes where the repository's history comes from, for the report. */
  readonly from: string;
  readonly commits: number;
}

/**
 * Creates a bare repository at `folder`: a clone of the checkout in `project`, or a small new repository if the project
 * is not a git checkout, has no commit, or belongs to another user. If the checkout has a folder `docs`, the last commit
 * of the clone has only this folder and the Markdown files beside it, so that the demo's many checkouts are quick.
 */
export function createRepository(project: string, folder: string): CreatedRepository {
  mkdirSync(dirname(folder), { recursive: true });
  const cloned = existsSync(join(project, ".git")) ? clone(project, folder) : null;
  if (cloned !== null) {
    const isReduced = keepDocuments(folder);
    return { from: `a clone of ${project}${isReduced ? ", only its documentation" : ""}`, commits: cloned };
  }
  rmSync(folder, { recursive: true, force: true });
  const made = `${folder}.made`;
  make(made);
  clone(made, folder);
  rmSync(made, { recursive: true });
  return { from: "made for the demo", commits: toCommits(folder) };
}

/** Clones the project; returns the number of commits, or null if it cannot be cloned. */
function clone(project: string, folder: string): number | null {
  try {
    git(dirname(folder), "clone", "--quiet", "--bare", "--", project, folder);
    attach(folder);
    return toCommits(folder);
  } catch {
    return null;
  }
}

/**
 * If HEAD is detached, points it at the branch `main`. The clone of a detached checkout has such a HEAD, and a code
 * host needs a default branch.
 */
function attach(folder: string): void {
  if (git(folder, "rev-parse", "--abbrev-ref", "HEAD").trim() !== "HEAD") return;
  git(folder, "update-ref", "refs/heads/main", "HEAD");
  git(folder, "symbolic-ref", "HEAD", "refs/heads/main");
}

/** Commits a tree with only the documentation, if there is any. Returns whether it did. */
function keepDocuments(folder: string): boolean {
  const entries = git(folder, "ls-tree", "HEAD").split("\n");
  if (!entries.some((entry) => entry.endsWith("\tdocs"))) return false;
  const kept = entries.filter((entry) => /\t(docs|[^\t]+\.md)$/.test(entry));
  const tree = gitWith(`${kept.join("\n")}\n`, folder, "mktree").trim();
  const commit = git(folder, "commit-tree", tree, "-p", "HEAD", "-m", "Keep the documentation only").trim();
  git(folder, "update-ref", "HEAD", commit);
  return true;
}

function make(folder: string): void {
  mkdirSync(folder);
  git(folder, "init", "--quiet", "--initial-branch", "main");
  for (const [index, text] of ["# Notes\n", "# Notes\n\nKept by agents.\n"].entries()) {
    writeFileSync(join(folder, "README.md"), text);
    git(folder, "add", "README.md");
    git(folder, "commit", "--quiet", "--message", index === 0 ? "Begin" : "Say who keeps it");
  }
}

function toCommits(folder: string): number {
  return Number(git(folder, "rev-list", "--count", "HEAD").trim());
}

/** Runs git with a fixed identity, and without commit signing or hooks. Returns git's output. */
function git(cwd: string, ...args: readonly string[]): string {
  return gitWith("", cwd, ...args);
}

/** Like {@link git}, with this text on standard input. */
function gitWith(input: string, cwd: string, ...args: readonly string[]): string {
  const identity = ["-c", "user.name=Demo", "-c", "user.email=demo@localhost"];
  const plain = ["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"];
  try {
    return execFileSync("git", [...identity, ...plain, ...args], {
      cwd,
      input,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
    });
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw isAbsent ? new Error("git is needed, and is not installed here") : error;
  }
}
