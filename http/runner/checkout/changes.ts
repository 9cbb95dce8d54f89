import { isUtf8 } from "node:buffer";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Checkout } from "./checkout.js";
import { GitFailed, git, gitBytes } from "./git.js";

export interface ChangesOptions {
  /** Kills git when aborted. */
  readonly signal: AbortSignal;
  /** Longest diff, in bytes; a longer one rejects with `OutputTooLong`. */
  readonly maxBytes: number;
}

/**
 * Everything changed since the base as a git diff, new files included, whatever the agent committed, staged or did to
 * its clone's own git directory. What the repository ignores is left out unless the agent added it by force; so are
 * repositories that the agent made inside. Files that are neither UTF-8 nor binary to git stand as binary patches.
 * Nothing is committed or pushed. Rejects with `GitFailed` or `OutputTooLong`.
 */
export async function changesOf(checkout: Checkout, { signal, maxBytes }: ChangesOptions): Promise<string> {
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

/** Brings the record's index to what lies in the folder. */
async function gather(checkout: Checkout, signal: AbortSignal): Promise<void> {
  const { base } = checkout;
  const options = { env: places(checkout), signal };
  const at = checkout.folder;
  await git(at, ["add", "--all"], options).catch(async (error: unknown) => {
    // A repository without a commit that the agent made inside; the rest is taken.
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

/** What the agent added although the repository ignores it. An index of its that cannot be read says nothing. */
async function addForced(checkout: Checkout, signal: AbortSignal): Promise<void> {
  const env = places(checkout);
  const theirs = { ...env, GIT_INDEX_FILE: join(checkout.folder, ".git/index") };
  const list = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"];
  const forced = await git(checkout.folder, list, { env: theirs, signal }).catch(() => "");
  if (forced === "") return;
  const update = ["update-index", "--add", "--remove", "-z", "--stdin"];
  await git(checkout.folder, update, { env, signal, input: forced });
}

function diff(checkout: Checkout, { signal, maxBytes }: ChangesOptions): Promise<Buffer> {
  const args = ["diff", "--cached", "--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv"];
  return gitBytes(checkout.folder, [...args, checkout.base], { env: places(checkout), signal, maxBytes });
}

/** Does something while every file counts as binary, over what the repository's own attributes say. */
async function asBinary<Done>({ record }: Checkout, work: () => Promise<Done>): Promise<Done> {
  const attributes = join(record, "info/attributes");
  await mkdir(join(record, "info"), { recursive: true });
  await writeFile(attributes, "* -diff\n");
  try {
    return await work();
  } finally {
    await rm(attributes, { force: true });
  }
}

/** A diff cut where each file's part begins; no line of a part's content begins so. */
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

function places({ record, folder }: Checkout): Record<string, string> {
  return { GIT_DIR: record, GIT_WORK_TREE: folder };
}
