import { isUtf8 } from "node:buffer";
import { lstat, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Checkout } from "./checkout.js";
import { GitFailed, git, gitBytes } from "./git.js";

export interface ChangesOptions {
  /** Kills git when aborted. */
  readonly signal: AbortSignal;
  /** Longest diff, in bytes; a longer one rejects with `OutputTooLong`. */
  readonly maxBytes: number;
}

/** The commit or the tree that changes are relative to. */
export type Since = Pick<Checkout, "folder" | "record" | "base">;

/**
 * All changes since the base as a git diff, including new files, whatever the agent committed, staged or did to its
 * clone's git directory. Without ignored files that the agent did not force-add, and without nested repositories. Files
 * that are neither UTF-8 nor binary to git become binary patches. Commits and pushes nothing. Rejects with `GitFailed`
 * or `OutputTooLong`.
 */
export async function changesOf(checkout: Since, { signal, maxBytes }: ChangesOptions): Promise<string> {
  await gather(checkout, signal);
  const text = await diff(checkout, { signal, maxBytes });
  if (isUtf8(text)) return text.toString("utf8");
  const binary = await asBinary(checkout, () => diff(checkout, { signal, maxBytes }));
  const inBinary = sectionsOf(binary);
  const sections = sectionsOf(text);
  if (sections.length !== inBinary.length) return binary.toString("utf8");
  const merged = sections.map((section, index) => (isUtf8(section) ? section : (inBinary[index] ?? section)));
  return Buffer.concat(merged).toString("utf8");
}

/** Updates the record's index to the contents of the folder. Rejects with `GitFailed`. */
export async function gather(checkout: Since, signal: AbortSignal): Promise<void> {
  const { base } = checkout;
  const options = { env: places(checkout), signal };
  const at = checkout.folder;
  await git(at, ["add", "--all"], options).catch(async (error: unknown) => {
    // A nested repository without a commit: add everything else.
    if (!(error instanceof GitFailed) || !/does not have a commit checked out/.test(error.message)) throw error;
    await git(at, ["add", "--all", "--ignore-errors"], options).catch(() => undefined);
  });
  await addForced(checkout, signal);
  const raw = await git(at, ["diff", "--cached", "--raw", "--no-renames", "-z", base], options);
  const inner = [...raw.matchAll(/:(\d+) 160000 [^\0]*\0([^\0]*)\0/g)].flatMap(([, mode, path = ""]) =>
    mode === "160000" ? [] : [path],
  );
  if (inner.length > 0) {
    await git(at, ["update-index", "--force-remove", "-z", "--stdin"], { ...options, input: inner.join("\0") });
  }
}

/** Adds the ignored files that the agent force-added, by the agent's own index; none if that cannot be read. */
async function addForced(checkout: Since, signal: AbortSignal): Promise<void> {
  const env = places(checkout);
  const index = join(checkout.folder, ".git/index");
  // Git would wait for ever for a pipe that stands in its place.
  if (!(await isFile(index))) return;
  const theirs = { ...env, GIT_INDEX_FILE: index };
  const list = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"];
  const forced = await git(checkout.folder, list, { env: theirs, signal }).catch(() => "");
  if (forced === "") return;
  const update = ["update-index", "--add", "--remove", "-z", "--stdin"];
  await git(checkout.folder, update, { env, signal, input: forced });
}

function diff(checkout: Since, { signal, maxBytes }: ChangesOptions): Promise<Buffer> {
  const args = ["diff", "--cached", "--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv"];
  return gitBytes(checkout.folder, [...args, checkout.base], { env: places(checkout), signal, maxBytes });
}

/** Runs `work` while git treats every file as binary, regardless of the repository's attributes. */
async function asBinary<Done>({ record }: Since, work: () => Promise<Done>): Promise<Done> {
  const attributes = join(record, "info/attributes");
  await mkdir(join(record, "info"), { recursive: true });
  await writeFile(attributes, "* -diff\n");
  try {
    return await work();
  } finally {
    await rm(attributes, { force: true });
  }
}

/** Splits a diff into the sections of its files; no content line begins with `diff --git`. */
function sectionsOf(bytes: Buffer): readonly Buffer[] {
  const sections: Buffer[] = [];
  let from = 0;
  while (from < bytes.length) {
    const next = bytes.indexOf("\ndiff --git ", from);
    const to = next === -1 ? bytes.length : next + 1;
    sections.push(bytes.subarray(from, to));
    from = to;
  }
  return sections;
}

function isFile(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

function places({ record, folder }: Since): Record<string, string> {
  return { GIT_DIR: record, GIT_WORK_TREE: folder };
}
