import { isUtf8 } from "node:buffer";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gitBytes, gitOutput, OutputTooLong } from "../checkout/git.js";
import type { Source } from "./gather.js";

/** The two trees to compare, and the size limit of their diff. */
export interface DiffWish {
  readonly from: string;
  readonly to: string;
  /** Maximum size of the diff, in bytes. If the diff is longer, the call rejects with `OutputTooLong`. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * With this option git does not read `.gitmodules`. That file may hide changed submodules, or git may be unable to
 * parse it.
 */
const WITH_SUBMODULES = "--ignore-submodules=none";
const ARGS = ["diff", "--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", WITH_SUBMODULES];
/** The git arguments that list the differences between two trees. Each path with a difference is listed once. */
export const LIST_CHANGES = ["diff-tree", "-r", "-z", "--no-renames", WITH_SUBMODULES];

/**
 * Returns the changes between two trees as a git diff. Files that are not UTF-8, and that git does not treat as binary,
 * become binary patches. Rejects with `GitFailed` or `OutputTooLong`.
 */
export async function diffBetween(source: Source, wish: DiffWish): Promise<string> {
  if (wish.from === wish.to) return "";
  const text = await diff(source, wish, wish.maxBytes);
  if (isUtf8(text)) return text.toString("utf8");
  // Allow a longer diff here: only the sections of files that are not UTF-8 are used.
  const binary = await asBinary(source, () => diff(source, wish, 4 * wish.maxBytes));
  const inBinary = listSections(binary);
  const sections = listSections(text);
  const merged = sections.map((section, index) => (isUtf8(section) ? section : (inBinary[index] ?? section)));
  const all = sections.length === inBinary.length ? Buffer.concat(merged) : binary;
  if (all.length > wish.maxBytes) throw new OutputTooLong(`a diff has more than ${wish.maxBytes} bytes`);
  return all.toString("utf8");
}

function diff(source: Source, { from, to, signal }: DiffWish, maxBytes: number): Promise<Buffer> {
  return gitBytes(source.folder, [...ARGS, from, to, "--"], { env: toEnvironment(source), signal, maxBytes });
}

/** Measures the bytes that each changed path takes in a diff without rename detection, in git's order of paths. */
export async function measureDiff(source: Source, { from, to, signal }: Omit<DiffWish, "maxBytes">): Promise<number[]> {
  const options = { env: toEnvironment(source), signal, maxBytes: Number.MAX_SAFE_INTEGER };
  const sizes: number[] = [];
  let header = "";
  // The end of the previous chunk, which may hold the start of a section mark.
  let tail = Buffer.from("\n");
  const count = (bytes: number) => {
    if (sizes.length > 0) sizes[sizes.length - 1] = (sizes.at(-1) ?? 0) + bytes;
  };
  await gitOutput(source.folder, [...ARGS, "--no-renames", from, to, "--"], options, (chunk) => {
    const text = Buffer.concat([tail, chunk]);
    for (let at = 0; ; ) {
      const mark = text.indexOf(SECTION, at);
      const end = mark === -1 ? -1 : text.indexOf(10, mark + 1);
      if (end === -1) {
        const tailStart = mark === -1 ? Math.max(at, text.length - SECTION.length + 1) : mark;
        count(tailStart - at);
        tail = text.subarray(tailStart);
        return;
      }
      count(mark - at);
      const nextHeader = text.toString("latin1", mark + 1, end);
      // If a path's file type changed, the diff has two sections for the path. Count them as one.
      if (nextHeader !== header) sizes.push(0);
      header = nextHeader;
      count(end - mark);
      at = end;
    }
  });
  count(tail.length);
  return sizes;
}

/** Runs `work` while git treats every file as binary, regardless of the repository's attributes. */
async function asBinary<Done>({ gitDir }: Source, work: () => Promise<Done>): Promise<Done> {
  const attributes = join(gitDir, "info/attributes");
  await mkdir(join(gitDir, "info"), { recursive: true });
  await writeFile(attributes, "* -diff\n");
  try {
    return await work();
  } finally {
    await rm(attributes, { force: true });
  }
}

/** The start of a section, including the preceding line break. No line of a file's content starts this way. */
const SECTION = Buffer.from("\ndiff --git ");

function listSections(bytes: Buffer): readonly Buffer[] {
  const sections: Buffer[] = [];
  let from = 0;
  while (from < bytes.length) {
    const next = bytes.indexOf(SECTION, from);
    const to = next === -1 ? bytes.length : next + 1;
    sections.push(bytes.subarray(from, to));
    from = to;
  }
  return sections;
}

function toEnvironment({ gitDir, folder }: Source): Record<string, string> {
  return { GIT_DIR: gitDir, GIT_WORK_TREE: folder };
}
