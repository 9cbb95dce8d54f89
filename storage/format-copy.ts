/**
 * A copy of the store's file, made before a migration so that an earlier release can be used again. Its path is
 * `data.mdb.format-<N>`, beside the file or beside the file's symlink target.
 *
 * 1. The copy is made before the migration's first change. The copy is written under a temporary name, flushed and
 *    then renamed, so a file with the final name is always complete. A resumed migration makes no copy.
 * 2. If the service starts and has nothing to migrate, it removes the copy: the previous start has already served the
 *    migrated store.
 */
import { createReadStream, createWriteStream, readdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { DATA_FILE } from "./data-file.js";
import { getFreeBytes } from "./disk-space.js";
import { syncToDisk } from "./durable-files.js";
import { StoreError } from "./store.js";
import { storeError } from "./store-errors.js";

/** Separates the file's name from the format number in the name of the copy. */
const FORMAT_PART = ".format-";
/** Suffix for the name of a copy that is not yet complete. */
const UNFINISHED = ".new";

export interface FormatCopyOptions {
  readonly folder: string;
  /** The store's current format, and the format to migrate to. */
  readonly from: number;
  readonly to: number;
  /** Aborts the copy. {@link copyOfFormat} then rejects with the signal's `AbortError` and leaves no file. */
  readonly ending?: AbortSignal | undefined;
  /** Returns the free space on the folder's disk in bytes; by default, asks the operating system. */
  readonly freeBytes?: (folder: string) => number;
}

/**
 * Copies the store's file and returns the path of the copy. Nothing may write to the store meanwhile. Rejects with a
 * {@link StoreError} `disk-full` if the disk has too little free space; nothing has changed then.
 */
export async function copyOfFormat(options: FormatCopyOptions): Promise<string> {
  const { folder, from, to, ending, freeBytes = getFreeBytes } = options;
  const file = realpathSync(join(folder, DATA_FILE));
  const copy = `${file}${FORMAT_PART}${from}`;
  const unfinished = `${copy}${UNFINISHED}`;
  const toDiskFull = (cause?: unknown) =>
    new StoreError(
      "disk-full",
      `the store in ${folder} has format ${from}. Before the migration to ${to}, ${file} is copied to ${copy}, ` +
        `which needs ${statSync(file).size} bytes, but the disk has ${freeBytes(dirname(file))} free. Free disk ` +
        "space and start again; nothing was changed",
      { cause },
    );
  rmSync(unfinished, { force: true });
  if (freeBytes(dirname(file)) < statSync(file).size) throw toDiskFull();
  try {
    const target = createWriteStream(unfinished, { mode: 0o600, flush: true });
    await pipeline(createReadStream(file), target, ending === undefined ? {} : { signal: ending });
    renameSync(unfinished, copy);
    syncToDisk(dirname(file));
    return copy;
  } catch (error) {
    rmSync(unfinished, { force: true });
    if (ending?.aborted === true) throw error;
    const known = storeError(error, folder);
    throw known.code === "disk-full" ? toDiskFull(error) : known;
  }
}

/** Removes all format copies of a store that needs no migration, including incomplete ones. Returns their paths. */
export function removeFormatCopies(folder: string): readonly string[] {
  const copies = listCopies(folder);
  for (const { path } of copies) rmSync(path, { force: true });
  return copies.map(({ path }) => path);
}

/**
 * Finds the newest complete copy whose format is at most `newest`. Returns the path of the copy, and of the store's
 * file, which the copy can replace. Returns null if there is no such copy.
 */
export function findFormatCopy(
  folder: string,
  newest: number,
): { readonly copy: string; readonly file: string } | null {
  const [latest] = listCopies(folder)
    .filter(({ format, isWhole }) => isWhole && format <= newest)
    .sort((left, right) => right.format - left.format);
  return latest === undefined ? null : { copy: latest.path, file: realpathSync(join(folder, DATA_FILE)) };
}

/** Whether a file in the folder is a copy of an earlier format, complete or not. */
export function isFormatCopy(name: string): boolean {
  return name.startsWith(DATA_FILE) && formatIn(name.slice(DATA_FILE.length)) !== null;
}

interface Copy {
  readonly path: string;
  readonly format: number;
  readonly isWhole: boolean;
}

function listCopies(folder: string): Copy[] {
  const path = join(folder, DATA_FILE);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  const file = realpathSync(path);
  return readdirSync(dirname(file)).flatMap((name) => {
    if (!name.startsWith(basename(file))) return [];
    const found = formatIn(name.slice(basename(file).length));
    return found === null ? [] : [{ path: join(dirname(file), name), ...found }];
  });
}

/** Parses the end of a copy's name; null if the name is not that of a copy. */
function formatIn(end: string): Omit<Copy, "path"> | null {
  const [, format, unfinished] = /^\.format-([1-9]\d{0,5})(\.new)?$/.exec(end) ?? [];
  return format === undefined ? null : { format: Number(format), isWhole: unfinished === undefined };
}
