import { isHigh } from "./cut-text.js";
import {
  type DiffPart,
  DiffReader,
  type FileKind,
  type ReadFile,
  type ReadHunk,
  type ReadingRoom,
} from "./diff-reader.js";

/** The diff of one checkout of a run: `git diff --binary`; empty for no change. */
export interface CheckoutDiff {
  readonly repository: string;
  readonly diff: string;
}

/** A change as it is shown and cited: its files, with their hunks numbered from 1 over the whole change. */
export interface Change {
  readonly files: readonly ChangedFile[];
  /** How many files more there are, of which nothing was read; of {@link MAX_COUNTED_FILES} there may be more. */
  readonly unread: number;
}

export interface ChangedFile {
  readonly repository: string;
  readonly path: string;
  readonly kind: FileKind;
  readonly hunks: readonly Hunk[];
  /** Lines over all hunks. */
  readonly added: number;
  readonly removed: number;
  /** Whether it was read only in part: its hunks and lines are those that were read, the last hunk may go on. */
  readonly isCut: boolean;
}

export interface Hunk extends ReadHunk {
  /** From 1, over the whole change. */
  readonly number: number;
}

/**
 * What is read of one change at most, so that no diff holds up a turn: several times what is ever shown. Files that are
 * too long all together share the characters as they share those that are shown.
 */
export const MAX_READ_FILES = 1_000;
export const MAX_READ_HUNKS = 5_000;
export const MAX_READ_CHARACTERS = 1_000_000;
/** Most files beyond that are counted. */
export const MAX_COUNTED_FILES = 10_000;

/**
 * Reads the change of a run. Any text can be read: what is no diff is left out, and a hunk ends with its own count of
 * lines, so that no line of a file is taken for a header. What is beyond the bounds is known by counts alone.
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
        ...{ repository, path: file.path, kind: file.kind, isCut: file.isCut, hunks: numbered },
        added: sum(numbered.map(({ added }) => added)),
        removed: sum(numbered.map(({ removed }) => removed)),
      };
    }),
  );
  const lost = read.filter((part) => part.isCut && part.files.length === 0).length;
  return { files, unread: Math.min(MAX_COUNTED_FILES, unread + lost) };
}

/** Whether nothing was changed. */
export function isEmptyChange({ files, unread }: Pick<Change, "files" | "unread">): boolean {
  return files.length === 0 && unread === 0;
}

/** What is to be read of one file, from its line `diff --git` on, or of what is before the first such line. */
interface Part extends CheckoutDiff, DiffPart {}

const NEXT_FILE = "\ndiff --git ";

/** The parts of all diffs, as many as are read; those beyond are counted. No line of a hunk begins as a file does. */
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

/** Line after which there is no more of a file than its bytes. */
const BINARY_PATCH = "\nGIT binary patch\n";
/** Where that line stands at the latest, in characters of a file's part; it comes after a few short lines. */
const MAX_BEFORE_BYTES = 4_000;

/** The end of what is text in a file's part: the bytes of a binary file are not read, and take no room. */
function endOfText(diff: string, from: number, to: number): number {
  const at = diff.slice(from, Math.min(to, from + MAX_BEFORE_BYTES)).indexOf(BINARY_PATCH);
  return at === -1 ? to : from + at + BINARY_PATCH.length;
}

interface ReadPart {
  readonly repository: string;
  readonly files: readonly ReadFile[];
  readonly isCut: boolean;
}

/** Reads parts, short ones first: what those leave of their shares is for the longer ones. In the order of the parts. */
function readParts(parts: readonly Part[]): readonly ReadPart[] {
  const room: ReadingRoom = { plainFiles: MAX_READ_FILES - parts.length, hunks: MAX_READ_HUNKS };
  // A part may begin without a line `diff --git`, and is a file all the same.
  room.plainFiles += parts.filter(({ diff, from }) => !diff.startsWith("diff --git ", from)).length;
  let left = MAX_READ_CHARACTERS;
  const read: ReadPart[] = new Array(parts.length);
  const byLength = [...parts.entries()].sort(([a, one], [b, other]) => lengthOf(one) - lengthOf(other) || a - b);
  for (const [index, [at, part]] of byLength.entries()) {
    const { repository, diff, from, to } = part;
    const end = endOfShare(part, Math.floor(left / (byLength.length - index)));
    const reader = new DiffReader({ diff, from, to: end }, room).read();
    left -= Math.min(end, reader.at) - from;
    const last = reader.files.at(-1);
    const isCut = reader.isCut || (end < to && reader.at >= end);
    if (last !== undefined) last.isCut = isCut;
    read[at] = { repository, files: reader.files, isCut };
  }
  return read;
}

/** The end of what is read of a part in so many characters; no pair of surrogates is cut in two. */
function endOfShare({ diff, from, to }: Part, characters: number): number {
  if (to - from <= characters) return to;
  const end = from + characters;
  return isHigh(diff.charCodeAt(end - 1)) ? end - 1 : end;
}

function lengthOf({ from, to }: Part): number {
  return to - from;
}
