/**
 * Checks the pages of LMDB's file without LMDB, which trusts them: it would end the process with a signal, or find the
 * wrong page. Values are not checked here: they have checksums.
 */
import { readSync } from "node:fs";

/**
 * Layout of LMDB's pages as the lmdb package writes them (`MDB_page`, `MDB_meta`, `MDB_db`, `MDB_node`), in bytes.
 * Offsets stored in a page count from the end of its header (LMDB's `PAGEBASE`).
 */
const PAGE_HEADER = 24;
const PAGE = { number: 0, transaction: 8, flags: 18, lower: 20, upper: 22, overflowPages: 20 };
const NODE_HEADER = 8;
const NODE = { low: 0, high: 2, flags: 4, keySize: 6 };
const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
/** The flags above these are LMDB's notes while it writes. */
const KINDS = 0x1fff;
const BIG_DATA = 0x01;
/** The number that stands for no page, as a double. */
const NO_PAGE = 2 ** 64;
const INTEGER_BYTES = 8;
/** Longest key in bytes. */
const MAX_KEY = 1978;

/** What a file's newest meta page says. */
export interface FileLayout {
  readonly pageSize: number;
  /** Pages in the file. */
  readonly pages: number;
  /** Pages in use or free; a file may lack free ones at its end. */
  readonly usedPages: number;
  /** The last transaction. */
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
  /** LMDB could end the process, or write over pages in use. Otherwise rows may not be found. */
  readonly isFatal: boolean;
}

/** Reads an integer of 64 bits as a double. */
export function readInteger(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

/** The faults of all pages that the two trees of the file reach. */
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
 * What is wrong with a list of free pages; null when nothing is. It holds their number of entries, then for each a
 * page, or a number of pages below zero and the first of them, or zero for nothing.
 */
function findFreeFault(bytes: Buffer, { usedPages }: FileLayout, inUse: ReadonlySet<number>): string | null {
  const end = readInteger(bytes, 0);
  if (end * INTEGER_BYTES + INTEGER_BYTES > bytes.length) return "has a list of free pages that is cut short";
  for (let index = 1; index <= end; index++) {
    const entry = Number(bytes.readBigInt64LE(index * INTEGER_BYTES));
    if (entry === 0) continue;
    const count = entry < 0 ? -entry : 1;
    if (entry < 0 && ++index > end) return "has a list of free pages that is cut short";
    const first = entry < 0 ? readInteger(bytes, index * INTEGER_BYTES) : entry;
    if (first + count > usedPages) return "lists free pages outside of the file";
    for (let page = first; page < first + count; page++) if (inUse.has(page)) return `says that page ${page} is free`;
  }
  return null;
}

/** A page that is yet to be checked, and the keys between which its own have to be. */
interface Waiting {
  readonly page: number;
  readonly level: number;
  readonly from: Buffer | null;
  readonly before: Buffer | null;
}

interface Node {
  readonly at: number;
  readonly flags: number;
  readonly key: Buffer;
  /** Size of the data, or the page of a branch. */
  readonly data: number;
}

/** A value, and the page that leads to it. */
interface Found {
  readonly page: number;
  readonly bytes: Buffer;
}

/** What the checks of both trees share. */
interface Checked {
  readonly file: number;
  readonly layout: FileLayout;
  /** Pages that either tree uses. */
  readonly seen: Set<number>;
}

class TreeCheck {
  /** The values of the free tree. */
  readonly values: Found[] = [];
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
    const bytes = this.#read(page);
    if (typeof bytes === "string") return yield fatal(bytes);
    if ((bytes.readUInt16LE(PAGE.flags) & KINDS) !== (isLeaf ? LEAF : BRANCH))
      return yield fatal("is of the wrong kind");
    const nodes = this.#nodesOf(bytes, isLeaf);
    if (nodes === null) return yield fatal("has entries outside of itself");
    if (nodes.length < (isLeaf || !this.#isMain ? 1 : 2)) return yield fatal("has too few entries");
    if (this.#isMain && !isInOrder(nodes, place, isLeaf)) yield { page, what: "has keys out of order", isFatal: false };
    for (const [index, node] of nodes.entries()) {
      if (!isLeaf) {
        const from = index === 0 ? place.from : node.key;
        waiting.push({ page: node.data, level: level + 1, from, before: nodes[index + 1]?.key ?? place.before });
      } else {
        const fault = (node.flags & BIG_DATA) === 0 ? null : this.#checkOverflow(bytes, node);
        if (fault !== null) yield fatal(fault);
        else if (!this.#isMain) this.values.push({ page, bytes: this.#valueOf(bytes, node) });
      }
    }
    if (isLeaf) this.#entries += nodes.length;
  }

  /** The bytes of a page, or what is wrong with it. */
  #read(page: number): Buffer | string {
    const { pageSize, pages, usedPages, transaction } = this.#layout;
    if (page >= pages || page >= usedPages) return "is outside of the file";
    if (this.#seen.has(page)) return "is used twice";
    this.#seen.add(page);
    const bytes = Buffer.allocUnsafe(pageSize);
    readSync(this.#file, bytes, 0, pageSize, page * pageSize);
    if (readInteger(bytes, PAGE.number) !== page) return "has another page's number";
    if (readInteger(bytes, PAGE.transaction) > transaction) return "is newer than the file";
    return bytes;
  }

  /** The entries of a page; null when one is not inside it. */
  #nodesOf(bytes: Buffer, isLeaf: boolean): Node[] | null {
    const end = bytes.length - PAGE_HEADER;
    const lower = bytes.readUInt16LE(PAGE.lower);
    const upper = bytes.readUInt16LE(PAGE.upper);
    if (lower % 2 !== 0 || lower > upper || upper > end) return null;
    const nodes: Node[] = [];
    for (let pointer = 0; pointer < lower; pointer += 2) {
      const offset = bytes.readUInt16LE(PAGE_HEADER + pointer);
      if (offset < upper || offset + NODE_HEADER > end) return null;
      const at = PAGE_HEADER + offset;
      const flags = bytes.readUInt16LE(at + NODE.flags);
      const keySize = bytes.readUInt16LE(at + NODE.keySize);
      const low = bytes.readUInt16LE(at + NODE.low) + bytes.readUInt16LE(at + NODE.high) * 2 ** 16;
      const inPage = !isLeaf ? 0 : (flags & BIG_DATA) === 0 ? low : INTEGER_BYTES;
      if (keySize > MAX_KEY || offset + NODE_HEADER + keySize + inPage > end) return null;
      if (isLeaf && (flags & ~BIG_DATA) !== 0) return null;
      const begin = at + NODE_HEADER;
      const data = isLeaf ? low : low + flags * 2 ** 32;
      nodes.push({ at, flags, key: bytes.subarray(begin, begin + keySize), data });
    }
    return nodes;
  }

  #valueOf(bytes: Buffer, { at, key, flags, data }: Node): Buffer {
    const begin = at + NODE_HEADER + key.length;
    if ((flags & BIG_DATA) === 0) return bytes.subarray(begin, begin + data);
    const value = Buffer.alloc(data);
    readSync(this.#file, value, 0, data, readInteger(bytes, begin) * this.#layout.pageSize + PAGE_HEADER);
    return value;
  }

  /** What is wrong with the pages of a value that has its own; null when nothing is. */
  #checkOverflow(bytes: Buffer, { at, key, data }: Node): string | null {
    const { pageSize, pages, usedPages } = this.#layout;
    const first = readInteger(bytes, at + NODE_HEADER + key.length);
    const overflow = this.#read(first);
    if (typeof overflow === "string") return `leads to page ${first}, which ${overflow}`;
    const count = overflow.readUInt32LE(PAGE.overflowPages);
    const isInside = first + count <= Math.min(pages, usedPages) && data <= count * pageSize - PAGE_HEADER;
    if ((overflow.readUInt16LE(PAGE.flags) & KINDS) === OVERFLOW && count > 0 && isInside) return null;
    return `leads to page ${first}, which does not hold its value`;
  }
}

/** Whether keys rise, and are between those of the page above. The first key of a branch stands for nothing. */
function isInOrder(nodes: readonly Node[], { from, before }: Waiting, isLeaf: boolean): boolean {
  const keys = nodes.slice(isLeaf ? 0 : 1).map(({ key }) => key);
  const [first] = keys;
  const last = keys.at(-1);
  const rises = keys.every((key, index) => index === 0 || Buffer.compare(keys[index - 1] ?? key, key) < 0);
  const isAbove = from === null || first === undefined || Buffer.compare(from, first) <= 0;
  return rises && isAbove && (before === null || last === undefined || Buffer.compare(last, before) < 0);
}
