import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "./store.js";

/** The name of LMDB's file in a store's folder. */
export const DATA_FILE = "data.mdb";

/**
 * Layout of LMDB's pages as the lmdb package writes them (`MDB_page`, `MDB_meta`, `MDB_db`, `MDB_node`), in bytes.
 * Offsets stored in a page count from the end of its header (LMDB's `PAGEBASE`).
 */
const PAGE_HEADER = 24;
const FLAGS = 18;
const LOWER = 20;
const OVERFLOW_PAGES = 20;
const META = { magic: 24, pageSize: 48, freeRoot: 88, mainRoot: 136, lastPage: 144, transaction: 152 };
const MAGIC = 0xbeefc0de;
const META_PAGES = 2;
const BRANCH = 0x01;
const BIG_DATA = 0x01;
const NODE_HEADER = 8;
const NO_PAGE = 0xffffffffffffffffn;

/**
 * Checks the file before LMDB maps it: a truncated or overwritten one would otherwise end the process with a signal.
 * Throws `damaged`. An absent or empty file is a new store.
 */
export function checkDataFile(folder: string): void {
  const path = join(folder, DATA_FILE);
  if (!existsSync(path)) return;
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const fault = size === 0 ? null : findFault(file, size);
    if (fault !== null) {
      throw new StoreError(
        "damaged",
        `${path} is damaged (${fault}); nothing was changed: restore a backup into another folder`,
      );
    }
  } finally {
    closeSync(file);
  }
}

function findFault(file: number, size: number): string | null {
  const first = readAt(file, 0, 256);
  if (first.readUInt32LE(META.magic) !== MAGIC) return "its first page is not LMDB's";
  const pageSize = first.readUInt32LE(META.pageSize);
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) return "its page size makes no sense";
  if (size < pageSize * META_PAGES) return "it is cut short";
  const second = readAt(file, pageSize, 256);
  if (second.readUInt32LE(META.magic) !== MAGIC) return "its second page is not LMDB's";
  const newest = first.readBigUInt64LE(META.transaction) > second.readBigUInt64LE(META.transaction) ? first : second;
  const pages = Math.floor(size / pageSize);
  if (Number(newest.readBigUInt64LE(META.lastPage)) < pages) return null;
  // Free pages at the end are never written, so a short file is only damaged when a page in use is missing.
  const roots = [META.freeRoot, META.mainRoot].map((root) => newest.readBigUInt64LE(root));
  try {
    return roots.every((root) => reaches(file, pageSize, pages, root)) ? null : "it is cut short";
  } catch (error) {
    if (error instanceof RangeError) return "it is cut short, and its pages make no sense";
    throw error;
  }
}

/** Whether every page of the tree under `root` is in the file. Throws a RangeError for a page with invalid contents. */
function reaches(file: number, pageSize: number, pages: number, root: bigint): boolean {
  if (root === NO_PAGE) return true;
  const waiting = [root];
  let seen = 0;
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    if (number >= BigInt(pages) || ++seen > pages) return false;
    const page = readAt(file, Number(number) * pageSize, pageSize);
    const isBranch = (page.readUInt16LE(FLAGS) & BRANCH) !== 0;
    const nodes = page.readUInt16LE(LOWER) / 2;
    for (let index = 0; index < nodes; index++) {
      const node = PAGE_HEADER + page.readUInt16LE(PAGE_HEADER + index * 2);
      if (isBranch) waiting.push(readChild(page, node));
      else if (!holdsOverflow(file, pageSize, pages, page, node)) return false;
    }
  }
  return true;
}

function readChild(page: Buffer, node: number): bigint {
  return BigInt(page.readUInt32LE(node)) | (BigInt(page.readUInt16LE(node + 4)) << 32n);
}

/** Whether the overflow pages of a node, if it has any, are in the file. */
function holdsOverflow(file: number, pageSize: number, pages: number, page: Buffer, node: number): boolean {
  if ((page.readUInt16LE(node + 4) & BIG_DATA) === 0) return true;
  const start = Number(page.readBigUInt64LE(node + NODE_HEADER + page.readUInt16LE(node + 6)));
  if (start >= pages) return false;
  const count = readAt(file, start * pageSize, PAGE_HEADER).readUInt32LE(OVERFLOW_PAGES);
  return start + count <= pages;
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, position);
  return bytes;
}
