import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "../command/exit-codes.js";
import { runGit } from "../command/git.js";
import { toJson } from "../command/printable.js";

/**
 * Throws a {@link CommandError} that names the files of a diff that must not be applied:
 *
 * - files outside of the checkout, also through a symbolic link
 * - files in `.git`
 * - files whose local changes git hides
 */
export function refuseUnsafe(root: string, files: readonly string[]): void {
  const outside = files.filter(isOutside);
  if (outside.length > 0) {
    throw new CommandError(`the changes name ${toNames(outside)}, which cannot be a file of a checkout`);
  }
  const index = listIndex(root);
  const links = files.flatMap((file) => {
    const link = findLink(root, file);
    // Accept a diff that replaces a symbolic link in the index, because git itself checks such a diff.
    return link === null || (index.has(link) && files.includes(link)) ? [] : [link];
  });
  if (links.length > 0) {
    throw new CommandError(
      `the changes lead through the symbolic link ${toNames([...new Set(links)])}, which is not followed: remove the link first`,
    );
  }
  const hidden = files.filter((file) => isHidden(index.get(file), join(root, file)));
  if (hidden.length > 0) {
    throw new CommandError(
      `git hides local changes of ${toNames(hidden)} (assume-unchanged or skip-worktree): run ` +
        "git update-index --no-assume-unchanged --no-skip-worktree on them, then commit or stash their changes",
    );
  }
}

/** Returns the outermost symbolic link among the folders that a file is in; null if there is none. */
export function findLink(root: string, file: string): string | null {
  const outermostFirst = [...listFolders(file)].reverse();
  return outermostFirst.find((folder) => statLink(join(root, folder))?.isSymbolicLink() === true) ?? null;
}

/** Returns the folders that a file is in, innermost first, relative to the same folder as the file's path. */
export function listFolders(file: string): readonly string[] {
  const folder = dirname(file);
  return folder === "." || folder === dirname(folder) ? [] : [folder, ...listFolders(folder)];
}

/** Quotes and joins names for a message. */
export function toNames(files: readonly string[]): string {
  return files.map((file) => toJson(file)).join(", ");
}

function isOutside(file: string): boolean {
  return file.startsWith("/") || file.split("/").some((part) => /^(\.{1,2}|\.git)$/i.test(part));
}

/** Returns the tag that `git ls-files -v` gives to each file in the index. */
function listIndex(root: string): ReadonlyMap<string, string> {
  const { stdout } = runGit(root, ["ls-files", "-v", "-z"]);
  const entries = stdout.split("\0").filter((entry) => entry !== "");
  return new Map(entries.map((entry) => [entry.slice(2), entry.slice(0, 1)]));
}

/**
 * Whether git hides local changes of a file. A lowercase tag means assume-unchanged, and `S` means skip-worktree. A
 * file that a sparse checkout skips does not exist, so it has no hidden change.
 */
function isHidden(tag: string | undefined, path: string): boolean {
  if (tag === undefined) return false;
  return tag === "S" ? statLink(path) !== undefined : tag === tag.toLowerCase();
}

/**
 * Returns the status of a path without following a link; undefined if it cannot be read, for example because nothing is
 * there.
 */
function statLink(path: string): ReturnType<typeof lstatSync> | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
