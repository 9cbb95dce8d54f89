import { CommandError } from "../command/exit-codes.js";
import { runGit } from "../command/git.js";
import { toLines } from "../command/printable.js";

/** A diff to apply. */
interface DiffToApply {
  /** A folder in the checkout. */
  readonly folder: string;
  readonly diff: string;
  /** A new branch to apply it on; null for the current one. */
  readonly branch: string | null;
}

/** What was applied. */
interface Applied {
  readonly files: readonly string[];
  readonly branch: string | null;
}

/**
 * Applies a diff with `git apply --3way`, which stages the changes. Refuses if files that it changes have uncommitted
 * changes. Creates the branch from the current commit; if nothing could be applied, removes the branch again. Throws a
 * {@link CommandError} with git's message, also after conflicts, which remain in the files.
 */
export function applyDiff({ folder, diff, branch }: DiffToApply): Applied {
  const root = findRoot(folder);
  const files = listFiles(root, diff);
  refuseOverChanges(root, files);
  const before = branch === null ? null : startBranch(root, branch);
  const { status, stderr } = runGit(root, ["apply", "--3way", "--whitespace=nowarn"], diff);
  if (status === 0) return { files, branch };
  const conflicts = listConflicts(root);
  const said = toLines(stderr).trimEnd();
  if (conflicts.length > 0) {
    throw new CommandError(`the changes conflict in ${conflicts.join(", ")}: resolve the marked lines\n${said}`);
  }
  if (before !== null && branch !== null) before.undo();
  throw new CommandError(`git could not apply the changes, and this checkout is as before:\n${said}`);
}

/**
 * Returns which of these repositories (`owner/name`) a checkout belongs to, by the addresses of its remotes; null if
 * none or several fit.
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

/** Lists the files that a diff changes, creates or removes; of a renamed file, both names. */
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
  const { status, stdout, stderr } = runGit(root, [
    "status",
    "--porcelain",
    "-z",
    "--no-renames",
    "--untracked-files=all",
  ]);
  if (status !== 0) throw new CommandError(toLines(stderr).trimEnd());
  const changed = new Set(stdout.split("\0").map((entry) => entry.slice(3)));
  const both = files.filter((file) => changed.has(file));
  if (both.length === 0) return;
  const named = both.map((file) => JSON.stringify(file)).join(", ");
  throw new CommandError(`uncommitted changes in ${named}: commit or stash them first`);
}

/** Creates a branch and switches to it. `undo` returns to where the checkout was. */
function startBranch(root: string, branch: string): { undo(): void } {
  const current = runGit(root, ["symbolic-ref", "--quiet", "--short", "HEAD"]);
  const commit = runGit(root, ["rev-parse", "HEAD"]).stdout.trim();
  const { status, stderr } = runGit(root, ["switch", `--create=${branch}`]);
  if (status !== 0) throw new CommandError(`cannot create the branch: ${toLines(stderr).trimEnd()}`);
  return {
    undo: () => {
      runGit(root, current.status === 0 ? ["switch", current.stdout.trim()] : ["switch", "--detach", commit]);
      runGit(root, ["branch", "--delete", "--force", "--", branch]);
    },
  };
}

function listConflicts(root: string): readonly string[] {
  const { stdout } = runGit(root, ["diff", "--name-only", "-z", "--diff-filter=U"]);
  return stdout.split("\0").flatMap((file) => (file === "" ? [] : [JSON.stringify(file)]));
}
