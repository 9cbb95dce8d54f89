import { lstatSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../command/exit-codes.js";
import { runGit } from "../command/git.js";
import { toJson, toLines } from "../command/printable.js";
import { findLink, listFolders, refuseUnsafe, toNames } from "./refuse-diff.js";

/** A diff to apply. */
interface DiffToApply {
  /** A folder in the checkout. */
  readonly folder: string;
  readonly diff: string;
  /** The name of a new branch on which to apply the diff; null for the current branch. */
  readonly branch: string | null;
}

/** What was applied. */
interface Applied {
  readonly files: readonly string[];
  readonly branch: string | null;
}

/**
 * Applies a diff with `git apply --3way`, which stages the changes. With `branch`, first creates that branch from the
 * current commit and switches to it. Throws a {@link CommandError} in these cases:
 *
 * - A file of the diff has uncommitted changes, or the diff leads out of the checkout. Nothing changes.
 * - The diff conflicts with the files. The conflicts remain in the files, and the message says how to undo the
 *   changes.
 * - Git fails for another reason. The function restores the files and removes the branch. The message contains git's
 *   message.
 */
export function applyDiff({ folder, diff, branch }: DiffToApply): Applied {
  const root = findRoot(folder);
  const files = listFiles(root, diff);
  refuseUnsafe(root, files);
  refuseOverChanges(root, files);
  const restore = prepareRestore(root, files);
  const before = branch === null ? null : startBranch(root, branch);
  const { status, stderr } = runGit(root, ["apply", "--3way", "--whitespace=nowarn"], diff);
  if (status === 0) return { files, branch };
  const conflicts = listConflicts(root);
  const said = toLines(stderr).trimEnd();
  if (conflicts.length > 0) {
    const back = [toRestoreCommand(listChanged(root, files)), ...(before?.commands ?? [])].join(" && ");
    throw new CommandError(
      `the changes conflict in ${conflicts.join(", ")}: resolve the marked lines, or go back with\n  ${back}\n${said}`,
    );
  }
  const written = restore();
  before?.undo();
  throw new CommandError(
    written.length === 0
      ? `git could not apply the changes, and this checkout is as before:\n${said}`
      : `git could not apply the changes, but changed ${toNames(written)}:\n${said}`,
  );
}

/**
 * Compares the addresses of a checkout's remotes with repository names (`owner/name`). Returns the name of the
 * repository that the checkout belongs to; null if none or several match.
 */
export function findOwnRepository(folder: string, names: readonly string[]): string | null {
  const { stdout } = runGit(folder, ["remote", "--verbose"]);
  const addresses = stdout.split("\n").map((line) => (line.split(/\s+/)[1] ?? "").replace(/(\.git)?\/?$/, ""));
  const isOf = (name: string) => addresses.some((each) => each.endsWith(`/${name}`) || each.endsWith(`:${name}`));
  const found = names.filter(isOf);
  const [only, second] = found;
  return second === undefined ? (only ?? null) : null;
}

function findRoot(folder: string): string {
  const { status, stdout } = runGit(folder, ["rev-parse", "--show-toplevel"]);
  if (status === 0) return stdout.replace(/\n$/, "");
  throw new CommandError(`${folder} is not in a git checkout: run this command where the changes belong`);
}

/** Lists the files that a diff changes, creates or removes. For a renamed file, lists both names. */
function listFiles(root: string, diff: string): readonly string[] {
  const files = new Set<string>();
  for (const reverse of [[], ["--reverse"]]) {
    const { status, stdout, stderr } = runGit(root, ["apply", "--numstat", "-z", ...reverse], diff);
    if (status !== 0) throw new CommandError(`git cannot read the changes of the run:\n${toLines(stderr).trimEnd()}`);
    for (const entry of stdout.split("\0")) {
      const path = entry.split("\t").slice(2).join("\t");
      if (path !== "") files.add(path);
    }
  }
  return [...files].sort();
}

function refuseOverChanges(root: string, files: readonly string[]): void {
  const both = listChanged(root, files);
  if (both.length === 0) return;
  throw new CommandError(`uncommitted changes in ${toNames(both)}: commit or stash them first`);
}

/** Returns the files among `files` that have uncommitted changes. */
function listChanged(root: string, files: readonly string[]): readonly string[] {
  const { status, stdout, stderr } = runGit(root, [
    "status",
    "--porcelain",
    "-z",
    "--no-renames",
    "--untracked-files=all",
  ]);
  if (status !== 0) throw new CommandError(toLines(stderr).trimEnd());
  const changed = new Set(stdout.split("\0").map((entry) => entry.slice(3)));
  return files.filter((file) => changed.has(file));
}

const PATHS_FROM_INPUT = ["--pathspec-from-file=-", "--pathspec-file-nul"];

/**
 * Returns a function that restores the files to their present state, in which they have no uncommitted changes. It
 * returns the files that it could not restore, and follows no symbolic links. The function is needed because git does
 * not undo its changes to other files if it cannot write a file.
 */
function prepareRestore(root: string, files: readonly string[]): () => readonly string[] {
  const inIndex = new Set(runGit(root, ["ls-files", "-z"]).stdout.split("\0"));
  const tracked = files.filter((file) => inIndex.has(file));
  const missing = files.filter((file) => !inIndex.has(file) && !exists(join(root, file)));
  const folders = new Set(missing.flatMap(listFolders).filter((folder) => !exists(join(root, folder))));
  const change = (paths: readonly string[], ...args: readonly string[]) => {
    if (paths.length > 0) runGit(root, ["--literal-pathspecs", ...args, ...PATHS_FROM_INPUT], paths.join("\0"));
  };
  return () => {
    change(missing, "rm", "--cached", "--quiet", "--ignore-unmatch");
    const inside = (path: string) => findLink(root, path) === null;
    for (const file of missing.filter(inside)) attempt(() => rmSync(join(root, file), { force: true }));
    for (const folder of [...folders].filter(inside).sort().reverse()) attempt(() => rmdirSync(join(root, folder)));
    change(listChanged(root, tracked), "restore", "--source=HEAD", "--staged", "--worktree");
    return [...listChanged(root, tracked), ...missing.filter((file) => exists(join(root, file)))].sort();
  };
}

function exists(path: string): boolean {
  return attempt(() => lstatSync(path));
}

/** Returns whether a call succeeds. */
function attempt(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the command that removes the changes of these files from the index and the checkout. The command works in
 * every folder of the checkout.
 */
function toRestoreCommand(files: readonly string[]): string {
  return `git restore --source=HEAD --staged --worktree -- ${files.map((file) => quote(`:/${file}`)).join(" ")}`;
}

/** Quotes a word for a shell. */
function quote(word: string): string {
  return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A branch that was created. */
interface NewBranch {
  /** Switches back to the earlier commit or branch, and removes the new branch. */
  undo(): void;
  /** The shell commands with the same effect as `undo`. */
  readonly commands: readonly string[];
}

/** Creates a branch and switches to it. */
function startBranch(root: string, branch: string): NewBranch {
  const current = runGit(root, ["symbolic-ref", "--quiet", "--short", "HEAD"]);
  const commit = runGit(root, ["rev-parse", "HEAD"]).stdout.trim();
  const { status, stderr } = runGit(root, ["switch", `--create=${branch}`]);
  if (status !== 0) throw new CommandError(`cannot create the branch: ${toLines(stderr).trimEnd()}`);
  const back = [
    current.status === 0 ? ["switch", current.stdout.trim()] : ["switch", "--detach", commit],
    ["branch", "--delete", "--force", "--", branch],
  ];
  return {
    undo: () => {
      for (const args of back) runGit(root, args);
    },
    commands: back.map((args) => `git ${args.map(quote).join(" ")}`),
  };
}

function listConflicts(root: string): readonly string[] {
  const { stdout } = runGit(root, ["diff", "--name-only", "-z", "--diff-filter=U"]);
  return stdout.split("\0").flatMap((file) => (file === "" ? [] : [toJson(file)]));
}
