/**
 * The copy of a store's file from before a migration, so that an earlier release can be used again: `data.mdb.format-<N>`
 * beside the file, or beside what the file links to.
 *
 * 1. It is made before the first change of a migration, and is whole whenever it has its name: it is written under another
 *    one, flushed and renamed. A migration that continues makes none.
 * 2. A start that finds nothing to migrate removes it, since the start before has served the migrated store.
 */
import { createReadStream, createWriteStream, readdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { DATA_FILE } from "./data-file.js";
import { freeBytesOf } from "./disk-room.js";
import { syncToDisk } from "./durable-files.js";
import { StoreError } from "./store.js";
import { storeError } from "./store-errors.js";

/** Between the name of the file and the format in the name of its copy. */
const FORMAT_PART = ".format-";
/** After the name of a copy that is being written. */
const UNFINISHED = ".new";

export interface FormatCopyOptions {
  readonly folder: string;
  /** The store's format, and the one that it is migrated to. */
  readonly from: number;
  readonly to: number;
  /** Ends the copying early: it rejects with the signal's `AbortError`, and leaves nothing. */
  readonly ending?: AbortSignal | undefined;
  /** The room on the folder's disk, in bytes; by default the system's. */
  readonly freeBytes?: (folder: string) => number;
}

/**
 * Copies the file of a store that nobody writes, and returns the path of the copy. Rejects with a {@link StoreError}
 * `disk-full` when there is no room for it; nothing is changed then.
 */
export async function copyOfFormat(options: FormatCopyOptions): Promise<string> {
  const { folder, from, to, ending, freeBytes = freeBytesOf } = options;
  const file = realpathSync(join(folder, DATA_FILE));
  const copy = `${file}${FORMAT_PART}${from}`;
  const unfinished = `${copy}${UNFINISHED}`;
  const noRoom = (cause?: unknown) =>
    new StoreError(
      "disk-full",
      `the store in ${folder} has format ${from}; before it is migrated to ${to}, ${file} is copied to ${copy}, which ` +
        `needs ${statSync(file).size} bytes, and the disk has ${freeBytes(dirname(file))} left: make room and start ` +
        "again; nothing was changed",
      { cause },
    );
  rmSync(unfinished, { force: true });
  if (freeBytes(dirname(file)) < statSync(file).size) throw noRoom();
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
    throw known.code === "disk-full" ? noRoom(error) : known;
  }
}

/** Removes the copies of a store that needs no migration, also unfinished ones. Returns their paths. */
export function removeFormatCopies(folder: string): readonly string[] {
  const copies = listCopies(folder);
  for (const { path } of copies) rmSync(path, { force: true });
  return copies.map(({ path }) => path);
}

/** The copy that a release of up to `newest` reads, and the file whose place it takes; null for none. */
export function findFormatCopy(
  folder: string,
  newest: number,
): { readonly copy: string; readonly file: string } | null {
  const [latest] = listCopies(folder)
    .filter(({ format, isWhole }) => isWhole && format <= newest)
    .sort((left, right) => right.format - left.format);
  return latest === undefined ? null : { copy: latest.path, file: realpathSync(join(folder, DATA_FILE)) };
}

/** Whether a file of the folder is a copy of an earlier format, finished or not. */
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

/** What the end of a copy's name says; null for the end of another name. */
function formatIn(end: string): Omit<Copy, "path"> | null {
  const [, format, unfinished] = /^\.format-([1-9]\d{0,5})(\.new)?$/.exec(end) ?? [];
  return format === undefined ? null : { format: Number(format), isWhole: unfinished === undefined };
}
