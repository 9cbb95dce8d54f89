import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { checkPages, type FileLayout, type PageFault, readInteger, type TreeLayout } from "./page-check.js";
import { StoreError } from "./store.js";

/** The name of LMDB's file in a store's folder. */
export const DATA_FILE = "data.mdb";

/** Offsets in the first two pages (`MDB_meta`, with two `MDB_db` in it), in bytes. */
const META = { magic: 24, pageSize: 48, freeTree: 48, mainTree: 96, lastPage: 144, transaction: 152 };
const TREE = { depth: 6, entries: 32, root: 40 };
const MAGIC = 0xbeefc0de;
const META_PAGES = 2;

/** Maximum file size for which every open checks all pages: about 0.2 s for 100 MB. */
const CHECKED_BYTES = 256 * 1024 * 1024;

/**
 * Checks the file before LMDB maps it. LMDB's pages have no checksums, and a truncated or overwritten file would crash
 * the process with a signal. Throws `damaged` if the file has a fault. An absent or empty file is a new store.
 *
 * If the file is larger than `checkedBytes`, its pages are checked only if some pages are missing. The doctor always
 * checks all pages.
 */
export function checkDataFile(folder: string, checkedBytes = CHECKED_BYTES): void {
  const path = join(folder, DATA_FILE);
  if (!existsSync(path)) return;
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const fault = size === 0 ? null : findFault(file, size, checkedBytes);
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

/** Lists all page faults of a file. Returns a single fault if the file is empty or its first two pages are invalid. */
export function listPageFaults(folder: string): PageFault[] {
  const file = openSync(join(folder, DATA_FILE), "r");
  try {
    const { size } = fstatSync(file);
    const layout = size === 0 ? "it is empty" : readLayout(file, size);
    return typeof layout === "string" ? [{ page: 0, what: layout, isFatal: true }] : [...checkPages(file, layout)];
  } finally {
    closeSync(file);
  }
}

function findFault(file: number, size: number, checkedBytes: number): string | null {
  const layout = readLayout(file, size);
  if (typeof layout === "string") return layout;
  // Free pages at the end are never written, so a short file is only damaged if it lacks a page in use.
  const isShort = layout.usedPages > layout.pages;
  if (!isShort && size > checkedBytes) return null;
  for (const { page, what, isFatal } of checkPages(file, layout)) {
    if (isFatal) return `${isShort ? "it is truncated: " : ""}page ${page} ${what}`;
  }
  return null;
}

/** Reads the layout from the newer of the first two pages, or returns what is wrong with them. */
function readLayout(file: number, size: number): FileLayout | string {
  const first = readAt(file, 0, 256);
  if (first.readUInt32LE(META.magic) !== MAGIC) return "its first page is not LMDB's";
  const pageSize = first.readUInt32LE(META.pageSize);
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) return "its page size is invalid";
  if (size < pageSize * META_PAGES) return "it is truncated";
  const second = readAt(file, pageSize, 256);
  if (second.readUInt32LE(META.magic) !== MAGIC) return "its second page is not LMDB's";
  const newest = readInteger(first, META.transaction) > readInteger(second, META.transaction) ? first : second;
  return {
    pageSize,
    pages: Math.floor(size / pageSize),
    usedPages: readInteger(newest, META.lastPage) + 1,
    transaction: readInteger(newest, META.transaction),
    freeTree: readTree(newest, META.freeTree),
    mainTree: readTree(newest, META.mainTree),
  };
}

function readTree(meta: Buffer, at: number): TreeLayout {
  return {
    root: readInteger(meta, at + TREE.root),
    depth: meta.readUInt16LE(at + TREE.depth),
    entries: readInteger(meta, at + TREE.entries),
  };
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, position);
  return bytes;
}
