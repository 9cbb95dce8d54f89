import { isHigh } from "./cut-text.js";
import {
  type DiffPart,
  DiffReader,
  type FileKind,
  type ReadFile,
  type ReadHunk,
  type ReadingBudget,
} from "./diff-reader.js";

/** The diff of one checkout of a run, from `git diff --binary`; empty if nothing changed. */
export interface CheckoutDiff {
  readonly repository: string;
  readonly diff: string;
}

/** A change in the form that judges see and cite: its files, with hunks numbered from 1 across the whole change. */
export interface Change {
  readonly files: readonly ChangedFile[];
  /**
   * The number of further files that were not read at all, at most {@link MAX_COUNTED_FILES}. If the number equals this
   * maximum, there may be more such files.
   */
  readonly unread: number;
}

export interface ChangedFile {
  readonly repository: string;
  readonly path: string;
  readonly kind: FileKind;
  readonly hunks: readonly Hunk[];
  /** Number of added and removed lines over all hunks. */
  readonly added: number;
  readonly removed: number;
  /**
   * Whether the file was read only in part. Its hunks and counts then cover only that part, and its last hunk may be
   * incomplete.
   */
  readonly isCut: boolean;
}

export interface Hunk extends ReadHunk {
  /** The hunk's number, from 1, across the whole change. */
  readonly number: number;
}

/**
 * Limits on how much of one change is read, so that no diff blocks a turn. Each limit is several times what a question
 * shows at most. If the files of a change together exceed the character limit, they share the characters, shortest file
 * first. The bytes of binary files do not use up the limit.
 */
export const MAX_READ_FILES = 1_000;
export const MAX_READ_HUNKS = 5_000;
export const MAX_READ_CHARACTERS = 1_000_000;
/** Maximum number of unread files to count. */
export const MAX_COUNTED_FILES = 10_000;

/**
 * Reads the change of a run. Accepts any text, and skips text that is not a diff. A hunk ends after the number of lines
 * in its header, so no line of a changed file is mistaken for a header. Nothing beyond the limits is read: further
 * files are counted as `unread`, and a file that is read in part has `isCut`.
 */
export function readChange(checkouts: readonly CheckoutDiff[]): Change {
  const { parts, unread } = split(checkouts);
  const read = readParts(parts);
  let hunks = 0;
  const files = read.flatMap(({ repository, files: ofPart }) =>
    ofPart.map((file) => {
      const numbered = file.hunks.map((hunk) => ({ ...hunk, number: ++hunks }));
      const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
      return {
        repository,
        path: file.path,
        kind: file.kind,
        isCut: file.isCut,
        hunks: numbered,
        added: sum(numbered.map(({ added }) => added)),
        removed: sum(numbered.map(({ removed }) => removed)),
      };
    }),
  );
  const lost = read.filter((part) => part.isCut && part.files.length === 0).length;
  return { files, unread: Math.min(MAX_COUNTED_FILES, unread + lost) };
}

/** Whether the change is empty. */
export function isEmptyChange({ files, unread }: Pick<Change, "files" | "unread">): boolean {
  return files.length === 0 && unread === 0;
}

/**
 * The part of a diff that describes one file, from its `diff --git` line on, or the text before the first such line.
 */
interface Part extends CheckoutDiff, DiffPart {}

const NEXT_FILE = "\ndiff --git ";

/**
 * Splits all diffs into parts, up to the limit, and counts the further parts. Every line of a hunk begins with a sign,
 * so no such line can start a new file.
 */
function split(checkouts: readonly CheckoutDiff[]): { readonly parts: readonly Part[]; readonly unread: number } {
  const parts: Part[] = [];
  let unread = 0;
  for (const { repository, diff } of checkouts) {
    for (let from = 0; from < diff.length && unread < MAX_COUNTED_FILES; ) {
      const next = diff.indexOf(NEXT_FILE, from);
      const to = next === -1 ? diff.length : next + 1;
      if (parts.length < MAX_READ_FILES) parts.push({ repository, diff, from, to: endOfText(diff, from, to) });
      else unread += 1;
      from = to;
    }
  }
  return { parts, unread };
}

/** The line after which only the bytes of a binary file follow. */
const BINARY_PATCH = "\nGIT binary patch\n";
/**
 * Maximum offset of the line {@link BINARY_PATCH} in a file's part, in characters. Only a few short lines precede it.
 */
const MAX_BEFORE_BYTES = 4_000;

/**
 * Returns the end of the text in a file's part. The bytes of a binary file are not read, and do not use up the limit.
 */
function endOfText(diff: string, from: number, to: number): number {
  const at = diff.slice(from, Math.min(to, from + MAX_BEFORE_BYTES)).indexOf(BINARY_PATCH);
  return at === -1 ? to : from + at + BINARY_PATCH.length;
}

interface ReadPart {
  readonly repository: string;
  readonly files: readonly ReadFile[];
  readonly isCut: boolean;
}

/**
 * Reads parts, shortest first, so that longer parts get the unused shares. Returns the results in the order of the
 * parts.
 */
function readParts(parts: readonly Part[]): readonly ReadPart[] {
  const budget: ReadingBudget = { plainFiles: MAX_READ_FILES - parts.length, hunks: MAX_READ_HUNKS };
  // Each part reserves one file: the file of its `diff --git` line. A part that begins without this line returns its
  // reservation, because each of its files counts as a plain file.
  budget.plainFiles += parts.filter(({ diff, from }) => !diff.startsWith("diff --git ", from)).length;
  let left = MAX_READ_CHARACTERS;
  const read: ReadPart[] = new Array(parts.length);
  const byLength = [...parts.entries()].sort(([a, one], [b, other]) => toLength(one) - toLength(other) || a - b);
  for (const [index, [at, part]] of byLength.entries()) {
    const { repository, diff, from, to } = part;
    const end = endOfShare(part, Math.floor(left / (byLength.length - index)));
    const reader = new DiffReader({ diff, from, to: end }, budget).read();
    left -= Math.min(end, reader.at) - from;
    const last = reader.files.at(-1);
    const isCut = reader.isCut || (end < to && reader.at >= end);
    if (last !== undefined) last.isCut = isCut;
    read[at] = { repository, files: reader.files, isCut };
  }
  return read;
}

/** Returns where to stop reading a part to stay within its share. Never splits a surrogate pair. */
function endOfShare({ diff, from, to }: Part, characters: number): number {
  if (to - from <= characters) return to;
  const end = from + characters;
  return isHigh(diff.charCodeAt(end - 1)) ? end - 1 : end;
}

function toLength({ from, to }: Part): number {
  return to - from;
}
