/**
 * Shrinks a store's file to the size of its content. LMDB reuses free pages but never returns them to the file system.
 *
 * 1. The folder is locked from start to end, so no other process can serve the store meanwhile.
 * 2. The store is checked, and copied without its free pages to a folder beside the file. Then each value of the copy
 *    is checked.
 * 3. When the copy is on disk, a rename replaces the file by the copy. Until then the file is unchanged. If the
 *    process is killed, the next compaction removes the unfinished copy.
 * 4. If the file is a symlink, the copy and the rename happen beside the symlink's target.
 * 5. A compaction removes only copies that a compaction made.
 */
import { lstatSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DATA_FILE } from "./data-file.js";
import { getFreeBytes } from "./disk-space.js";
import { syncToDisk } from "./durable-files.js";
import { listEntries } from "./finding.js";
import { lockFolder } from "./folder-lock.js";
import { assertStoreIn, openLmdbStore } from "./lmdb-store.js";
import type { Entry, Reading } from "./store.js";
import { StoreError } from "./store.js";
import { storeError } from "./store-errors.js";

/** The name of the copy's folder is the name of the file plus this suffix. */
const COPY_SUFFIX = ".compaction";
/** The files in the copy's folder: the copy and LMDB's reader table. */
const COPY_FILES: readonly string[] = [DATA_FILE, "lock.mdb"];

export interface CompactionOptions {
  readonly folder: string;
  /** Throws if the store must not be compacted. */
  readonly check?: (reading: Reading) => void;
  /** Returns the free space on the folder's disk in bytes; by default, asks the operating system. */
  readonly freeBytes?: (folder: string) => number;
  /** Called before each step that changes the disk. */
  readonly stepping?: (step: CompactionStep) => void;
}

/** The steps that change the disk, in order. */
export const compactionSteps = ["clear", "copy", "replace", "sync", "tidy"] as const;
type CompactionStep = (typeof compactionSteps)[number];

/** The size of the file before and after, in bytes, and the number of entries. */
export interface Compacted {
  readonly beforeBytes: number;
  readonly afterBytes: number;
  readonly entries: number;
}

/**
 * Compacts the store in a folder. Rejects with a {@link StoreError}, `in-use` if a process serves the store. A failed
 * compaction loses no data.
 */
export async function compactStore(options: CompactionOptions): Promise<Compacted> {
  const { folder } = options;
  assertStoreIn(folder);
  try {
    const unlock = await lockFolder(folder);
    try {
      return await replaceFile(options);
    } finally {
      unlock();
    }
  } catch (error) {
    throw storeError(error, folder);
  }
}

async function replaceFile(options: CompactionOptions): Promise<Compacted> {
  const { folder, stepping = () => undefined } = options;
  const file = realpathSync(join(folder, DATA_FILE));
  const copy = `${file}${COPY_SUFFIX}`;
  const beforeBytes = statSync(file).size;
  assertOwnCopy(copy);
  stepping("clear");
  rmSync(copy, { recursive: true, force: true });
  assertFreeSpace(options, beforeBytes, dirname(file));
  const entries = await copyStore(options, copy);
  stepping("replace");
  renameSync(join(copy, DATA_FILE), file);
  stepping("sync");
  syncToDisk(dirname(file));
  stepping("tidy");
  rmSync(copy, { recursive: true, force: true });
  return { beforeBytes, afterBytes: statSync(file).size, entries };
}

/** Throws if the copy's name is taken by a file or folder that no compaction created. */
function assertOwnCopy(copy: string): void {
  const found = lstatSync(copy, { throwIfNoEntry: false });
  if (found === undefined) return;
  const foreign = found.isDirectory()
    ? readdirSync(copy).find((name) => !COPY_FILES.includes(name))
    : "it is no folder";
  if (foreign === undefined) return;
  throw new StoreError(
    "not-empty",
    `${copy} was not created by a compaction (${foreign}); nothing was changed: move it away`,
  );
}

function assertFreeSpace({ freeBytes = getFreeBytes }: CompactionOptions, neededBytes: number, folder: string): void {
  const free = freeBytes(folder);
  if (free >= neededBytes) return;
  throw new StoreError(
    "disk-full",
    `the disk with ${folder} has ${free} bytes free, and the copy may need ${neededBytes}; nothing was changed`,
  );
}

/** Copies the store and compares the copy with the store. Returns the number of entries. */
async function copyStore(
  { folder, check, stepping = () => undefined }: CompactionOptions,
  to: string,
): Promise<number> {
  const store = await openLmdbStore({ folder, readOnly: true, checksAllPages: true, compactsBackups: true });
  try {
    check?.(store.reading);
    stepping("copy");
    await store.backup(to);
    const copy = await openLmdbStore({ folder: to, readOnly: true, checksAllPages: true });
    try {
      return countSame(store.reading, copy.reading, folder);
    } finally {
      await copy.close();
    }
  } finally {
    await store.close();
  }
}

/** Returns the number of entries. Throws if an entry is damaged or if the copy has other entries. */
function countSame(reading: Reading, copy: Reading, folder: string): number {
  const copied = listEntries(copy, []);
  let count = 0;
  for (const { key } of listEntries(reading, [])) {
    // Compare only the keys: each read has already checked the value against its key.
    if (!isSame(copied.next(), key)) throw differs(folder);
    count += 1;
  }
  if (copied.next().done !== true) throw differs(folder);
  return count;
}

function isSame(next: IteratorResult<Entry, unknown>, key: Entry["key"]): boolean {
  return next.done !== true && JSON.stringify(next.value.key) === JSON.stringify(key);
}

function differs(folder: string): StoreError {
  return new StoreError("failed", `the copy of the store in ${folder} differs from it; nothing was changed`);
}
