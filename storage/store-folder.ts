import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DATA_FILE } from "./data-file.js";
import { syncToDisk } from "./durable-files.js";
import { LOCK_FILE, type LockOptions, lockFolder } from "./folder-lock.js";
import { isFormatCopy } from "./format-copy.js";
import { StoreError } from "./store.js";

/** The file that says when the store was last backed up. */
export const LAST_BACKUP_FILE = "last-backup";

/**
 * Allowed contents of a store's folder: data, locks, the service's key, the time of its last backup, and entries that
 * file systems create everywhere.
 */
const OWN_FILES: ReadonlySet<string> = new Set([
  ...[DATA_FILE, LOCK_FILE, "lock.mdb", "secrets.key", "secrets.key.new", LAST_BACKUP_FILE],
  ...["lost+found", ".snapshot"],
]);

/**
 * Creates and locks the folder and its data file, readable only by this user. Returns a function that releases the
 * lock. A folder that contains other files keeps its mode. Rejects with `not-empty` if a folder contains other files
 * but no store.
 */
export async function prepareFolder(folder: string, lock: LockOptions = {}): Promise<() => void> {
  makeFolder(folder);
  const isNew = !existsSync(join(folder, DATA_FILE));
  const foreign = readdirSync(folder).find((name) => !OWN_FILES.has(name) && !isFormatCopy(name));
  if (isNew && foreign !== undefined) {
    throw new StoreError(
      "not-empty",
      `${folder} contains other files (${foreign}) and no store; nothing was changed: use a separate folder for ` +
        `the store, such as ${join(folder, "signalbox")}`,
    );
  }
  const unlock = await lockFolder(folder, lock);
  try {
    if (foreign === undefined) chmodSync(folder, 0o700);
    const file = join(folder, DATA_FILE);
    closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
    if (isNew) for (const path of [folder, dirname(folder)]) syncToDisk(path);
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Creates a folder with mode 0700, and its missing parents. Returns the topmost folder that it created; undefined if
 * the folder already existed. Node's recursive `mkdir` never returns where the system allows no folders, such as below
 * `/proc`.
 */
export function makeFolder(folder: string): string | undefined {
  const missing: string[] = [];
  let path = resolve(folder);
  for (; !isThere(path); path = dirname(path)) missing.unshift(path);
  if (!statSync(path).isDirectory()) {
    throw new StoreError("failed", `${folder} is not a folder, or lies below a file: use another path`);
  }
  for (const each of missing) make(each);
  return missing[0];
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function make(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    // Another process may have created the folder in the meantime.
    if (code === "EEXIST" && isThere(path)) return;
    if (code === "EEXIST") {
      throw new StoreError(
        "failed",
        `${path} is a link to a folder that does not exist: create that folder, or use another path`,
      );
    }
    if (code !== "ENOENT") throw error;
    throw new StoreError("failed", `cannot create a folder at ${path}: use another path`);
  }
}
