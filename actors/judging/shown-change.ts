import { type Change, type ChangedFile, type Hunk, MAX_COUNTED_FILES } from "./change.js";
import { cutEnd, cutMiddle, toCount } from "./cut-text.js";
import type { FencedText } from "./fence.js";

/** How to show a change. */
export interface ShowingChange {
  /** Maximum number of characters, including our own lines. */
  readonly maxCharacters: number;
  /** Whether to show the files in reverse order. */
  readonly isReversed: boolean;
}

/** The shown parts of a change. */
export interface ShownChange {
  /** For each shown hunk, its number in the change. The n-th shown hunk is labelled hunk n, from 1. */
  readonly hunks: readonly number[];
  /** Whether anything was left out. */
  readonly isCut: boolean;
}

/** The share of the characters that is reserved for the names of files that are not shown. */
const NAMES_SHARE = 0.1;
/** Minimum number of characters to show of a file that is too long for its share. */
const LEAST_SHARE = 400;
/** Maximum length of a shown path, in characters. */
const MAX_PATH = 500;
/**
 * Maximum characters that one of our own lines adds, without the mark: its words, its line break, and the line break of
 * the text after this line.
 */
const LINE_WORDS = 64;

/**
 * Shows a change within its character limit. If the files together are too long, they share the characters: short files
 * are shown whole, and long files with their first hunks. Files without a share are listed with their counts; unread
 * files are only counted. The order of the files does not affect which files and hunks are shown.
 */
export function showChange(
  into: FencedText,
  change: Change,
  { maxCharacters, isReversed }: ShowingChange,
): ShownChange {
  const showing = new ChangeShowing(into, change);
  const shares = showing.shareOut(maxCharacters);
  const files = showing.files.map((file, at) => ({ file, room: shares[at] ?? 0 }));
  for (const { file, room } of isReversed ? files.reverse() : files) if (room > 0) showing.show(file, room);
  const unshown = files.filter(({ room }) => room === 0).map(({ file }) => file);
  if (unshown.length + change.unread > 0) showing.name(unshown, Math.floor(maxCharacters * NAMES_SHARE));
  return { hunks: showing.hunks, isCut: showing.isCut };
}

/**
 * A file to show. `words` is its description, which may contain control characters. `cost` is the number of characters
 * that the whole file needs.
 */
interface ShowableFile extends Pick<ChangedFile, "hunks" | "isCut"> {
  readonly words: string;
  readonly cost: number;
}

class ChangeShowing {
  readonly files: readonly ShowableFile[];
  readonly hunks: number[] = [];
  isCut = false;
  /** Maximum length of one of our lines. */
  readonly #line: number;

  constructor(
    readonly into: FencedText,
    readonly change: Change,
  ) {
    this.#line = into.mark.length + LINE_WORDS;
    this.files = change.files.map((file) => {
      const words = describe(file);
      return { words, cost: this.#toCost(file, words), hunks: file.hunks, isCut: file.isCut };
    });
  }

  /** Returns the number of characters for each file; 0 for a file that is only listed. */
  shareOut(maxCharacters: number): readonly number[] {
    const costs = this.files.map(({ cost }) => cost);
    const isWhole = this.change.unread === 0 && costs.reduce((sum, cost) => sum + cost, 0) <= maxCharacters;
    if (isWhole) return costs;
    let left = Math.floor(maxCharacters * (1 - NAMES_SHARE));
    const shares = costs.map(() => 0);
    const byCost = costs.map((cost, at) => ({ cost, at })).sort((a, b) => a.cost - b.cost || a.at - b.at);
    for (const [index, { cost, at }] of byCost.entries()) {
      const share = Math.min(cost, Math.floor(left / (byCost.length - index)));
      // A file whose share is too small to show is only listed, and longer files get its characters.
      if (share < cost && share < this.#line * 2 + MAX_PATH + LEAST_SHARE) continue;
      shares[at] = share;
      left -= share;
    }
    return shares;
  }

  /** Shows a file in at most `room` characters: the whole file if it fits, otherwise its first hunks. */
  show(file: ShowableFile, room: number): void {
    this.into.line("file").text(inOneLine(file.words));
    const isWhole = file.cost <= room && !file.isCut;
    // Reserve space for the line that says what was left out.
    let left = room - this.#line - file.words.length - (isWhole ? 0 : this.#line);
    let shown = 0;
    for (const hunk of file.hunks) {
      if (left < this.#line + Math.min(hunk.text.length, LEAST_SHARE)) break;
      left -= this.#showHunk(hunk, left);
      shown += 1;
    }
    if (shown === file.hunks.length && !file.isCut) return;
    this.isCut = true;
    const more = shown === file.hunks.length ? [] : [`${toCount(file.hunks.length - shown, "more hunk")} of this file`];
    this.into.line(`left out: ${[...more, ...(file.isCut ? ["the rest of the file"] : [])].join(", ")}`);
  }

  /** Lists the files that are not shown, in about `room` characters, and counts the unread files. */
  name(files: readonly ShowableFile[], room: number): void {
    this.isCut = true;
    const { unread } = this.change;
    const least = unread === MAX_COUNTED_FILES ? "at least " : "";
    this.into.line(`left out: ${least}${toCount(files.length + unread, "file")}`);
    let left = room - 2 * this.#line;
    const named = files.filter(({ words }) => {
      left -= words.length + 1;
      return left >= 0;
    });
    this.into.text(named.map(({ words }) => inOneLine(words)).join("\n"));
    const more = files.length + unread - named.length;
    if (more > 0) this.into.line(`and ${least}${toCount(more, "more file")}`);
  }

  #toCost(file: ChangedFile, words: string): number {
    const head = this.#line + words.length + (file.isCut ? this.#line : 0);
    return file.hunks.reduce((sum, { text }) => sum + this.#line + text.length, head);
  }

  /** Shows a hunk in at most `room` characters. Returns the number of characters used. */
  #showHunk({ number, text }: Hunk, room: number): number {
    this.hunks.push(number);
    this.into.line(`hunk ${this.hunks.length}`);
    if (this.#line + text.length <= room) {
      this.into.text(text);
      return this.#line + text.length;
    }
    this.isCut = true;
    const part = cutEnd(text, room - 2 * this.#line);
    const lastLine = part.lastIndexOf("\n");
    this.into.text(lastLine > part.length / 2 ? part.slice(0, lastLine) : part);
    this.into.line("left out: the rest of this hunk");
    return room;
  }
}

function describe({ repository, path, kind, added, removed }: ChangedFile): string {
  const name = cutMiddle(`${repository}: ${path}`, MAX_PATH);
  return `${name} (${kind}, ${toCount(added, "line")} added, ${removed} removed)`;
}

function inOneLine(words: string): string {
  return words.replace(/\p{Cc}/gu, " ");
}
