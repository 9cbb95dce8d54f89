/**
 * Checks the pages of LMDB's file without LMDB. LMDB trusts its pages: a damaged page could crash the process with a
 * signal or lead to the wrong page. Values are not checked here, because they have checksums.
 */
import { readSync } from "node:fs";
import { INTEGER_BYTES, PAGE_HEADER, PageEntries } from "./page-entries.js";

/**
 * Offsets of the fields in a page header (`MDB_page`), in bytes. Offsets stored inside a page count from the end of the
 * header (`PAGEBASE`).
 */
const PAGE = { number: 0, transaction: 8, flags: 18, overflowPages: 20 };
const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
/** Mask for the kind of a page. LMDB uses the higher flags only while it writes. */
const KINDS = 0x1fff;
/** The page number that means no page, as a double. */
const NO_PAGE = 2 ** 64;

/** The contents of a file's newest meta page. */
export interface FileLayout {
  readonly pageSize: number;
  /** Number of pages in the file. */
  readonly pages: number;
  /** Number of pages in use or free. The file may lack free pages at its end. */
  readonly usedPages: number;
  /** The number of the last transaction. */
  readonly transaction: number;
  readonly freeTree: TreeLayout;
  readonly mainTree: TreeLayout;
}

export interface TreeLayout {
  readonly root: number;
  readonly depth: number;
  readonly entries: number;
}

export interface PageFault {
  readonly page: number;
  readonly what: string;
  /**
   * True if the fault may make LMDB crash the process or overwrite pages in use. False if LMDB may only miss some rows.
   */
  readonly isFatal: boolean;
}

/** Reads a 64-bit integer as a double. */
export function readInteger(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

/** Finds the faults of all pages that the file's two trees reach. */
export function* checkPages(file: number, layout: FileLayout): Generator<PageFault> {
  const seen = new Set<number>();
  const free = new TreeCheck({ file, layout, seen }, "freeTree");
  yield* free.faults();
  yield* new TreeCheck({ file, layout, seen }, "mainTree").faults();
  for (const { page, bytes } of free.values) {
    const what = findFreeFault(bytes, layout, seen);
    if (what !== null) yield { page, what, isFatal: true };
  }
}

/**
 * Returns what is wrong with a list of free pages; null if it is correct. The list starts with its number of entries.
 * Each entry is one of these:
 *
 * - a page number
 * - a negative number of pages, followed by the number of the first of these pages
 * - zero, which has no meaning
 */
function findFreeFault(bytes: Buffer, { usedPages }: FileLayout, inUse: ReadonlySet<number>): string | null {
  const end = readInteger(bytes, 0);
  if (end * INTEGER_BYTES + INTEGER_BYTES > bytes.length) return "has a truncated list of free pages";
  for (let index = 1; index <= end; index++) {
    const entry = Number(bytes.readBigInt64LE(index * INTEGER_BYTES));
    if (entry === 0) continue;
    const count = entry < 0 ? -entry : 1;
    if (entry < 0 && ++index > end) return "has a truncated list of free pages";
    const first = entry < 0 ? readInteger(bytes, index * INTEGER_BYTES) : entry;
    if (first + count > usedPages) return "lists free pages outside the file";
    for (let page = first; page < first + count; page++) if (inUse.has(page)) return `says that page ${page} is free`;
  }
  return null;
}

/** A page to check, and the limits for its keys. */
interface Waiting {
  readonly page: number;
  readonly level: number;
  readonly from: Buffer | null;
  readonly before: Buffer | null;
}

/** A value, and the page that leads to it. */
interface Found {
  readonly page: number;
  readonly bytes: Buffer;
}

/** The state that the checks of both trees share. */
interface Checked {
  readonly file: number;
  readonly layout: FileLayout;
  /** Pages that either tree uses. */
  readonly seen: Set<number>;
}

class TreeCheck {
  /** The values of the free tree. */
  readonly values: Found[] = [];
  /**
   * A buffer for each tree level. Each buffer holds the page of its level that was checked last. Child pages that still
   * wait for their check refer to keys in that page, and are checked before the next page of the level replaces it.
   */
  readonly #levels: PageEntries[] = [];
  readonly #header = Buffer.alloc(PAGE_HEADER);
  readonly #file: number;
  readonly #layout: FileLayout;
  readonly #seen: Set<number>;
  readonly #tree: TreeLayout;
  readonly #isMain: boolean;
  #entries = 0;

  constructor({ file, layout, seen }: Checked, tree: "freeTree" | "mainTree") {
    this.#file = file;
    this.#layout = layout;
    this.#seen = seen;
    this.#tree = layout[tree];
    this.#isMain = tree === "mainTree";
  }

  *faults(): Generator<PageFault> {
    const { root, entries } = this.#tree;
    const waiting: Waiting[] = root === NO_PAGE ? [] : [{ page: root, level: 1, from: null, before: null }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) yield* this.#checkPage(next, waiting);
    if (this.#entries !== entries) {
      yield { page: root, what: `leads to ${this.#entries} entries instead of ${entries}`, isFatal: false };
    }
  }

  *#checkPage(place: Waiting, waiting: Waiting[]): Generator<PageFault> {
    const { page, level } = place;
    const isLeaf = level === this.#tree.depth;
    const fatal = (what: string): PageFault => ({ page, what, isFatal: true });
    const entries = this.#toEntries(level);
    const unread = this.#read(page, entries.bytes);
    if (unread !== null) return yield fatal(unread);
    if ((entries.bytes.readUInt16LE(PAGE.flags) & KINDS) !== (isLeaf ? LEAF : BRANCH))
      return yield fatal("is of the wrong kind");
    if (!entries.read(isLeaf)) return yield fatal("has entries outside the page");
    if (entries.count < (isLeaf || !this.#isMain ? 1 : 2)) return yield fatal("has too few entries");
    if (this.#isMain && !isInOrder(entries, place, isLeaf)) {
      yield { page, what: "has keys out of order", isFatal: false };
    }
    for (let index = 0; index < entries.count; index++) {
      if (!isLeaf) {
        const from = index === 0 ? place.from : entries.keyAt(index);
        const before = index + 1 < entries.count ? entries.keyAt(index + 1) : place.before;
        waiting.push({ page: entries.at(index).data, level: level + 1, from, before });
      } else {
        const fault = entries.at(index).isBig ? this.#checkOverflow(entries, index) : null;
        if (fault !== null) yield fatal(fault);
        else if (!this.#isMain) this.values.push({ page, bytes: this.#toValue(entries, index) });
      }
    }
    if (isLeaf) this.#entries += entries.count;
  }

  #toEntries(level: number): PageEntries {
    const known = this.#levels[level];
    if (known !== undefined) return known;
    const made = new PageEntries(this.#layout.pageSize);
    this.#levels[level] = made;
    return made;
  }

  /** Reads the start of a page into a buffer. Returns what is wrong with the page; null if it is correct. */
  #read(page: number, into: Buffer): string | null {
    const { pageSize, pages, usedPages, transaction } = this.#layout;
    if (page >= pages || page >= usedPages) return "is outside the file";
    if (this.#seen.has(page)) return "is used twice";
    this.#seen.add(page);
    if (readSync(this.#file, into, 0, into.length, page * pageSize) < into.length) return "is outside the file";
    if (readInteger(into, PAGE.number) !== page) return "has another page's number";
    if (readInteger(into, PAGE.transaction) > transaction) return "has a newer transaction than the file";
    return null;
  }

  #toValue(entries: PageEntries, index: number): Buffer {
    const { end, isBig, data } = entries.at(index);
    if (!isBig) return Buffer.from(entries.bytes.subarray(end, end + data));
    const value = Buffer.alloc(data);
    const first = readInteger(entries.bytes, end);
    readSync(this.#file, value, 0, data, first * this.#layout.pageSize + PAGE_HEADER);
    return value;
  }

  /** Returns what is wrong with the pages of a value that has its own pages; null if they are correct. */
  #checkOverflow(entries: PageEntries, index: number): string | null {
    const { end, data } = entries.at(index);
    const { pageSize, pages, usedPages } = this.#layout;
    const first = readInteger(entries.bytes, end);
    const unread = this.#read(first, this.#header);
    if (unread !== null) return `leads to page ${first}, which ${unread}`;
    const count = this.#header.readUInt32LE(PAGE.overflowPages);
    const isInside = first + count <= Math.min(pages, usedPages) && data <= count * pageSize - PAGE_HEADER;
    if ((this.#header.readUInt16LE(PAGE.flags) & KINDS) === OVERFLOW && count > 0 && isInside) return null;
    return `leads to page ${first}, which does not hold its value`;
  }
}

/**
 * Whether the keys are ascending and within the limits from the parent page. A branch page's first key has no meaning.
 */
function isInOrder(entries: PageEntries, { from, before }: Waiting, isLeaf: boolean): boolean {
  const first = isLeaf ? 0 : 1;
  if (entries.count <= first) return true;
  const isAbove = from === null || Buffer.compare(from, entries.keyAt(first)) <= 0;
  const isBelow = before === null || Buffer.compare(entries.keyAt(entries.count - 1), before) < 0;
  return isAbove && isBelow && entries.risesFrom(first);
}
