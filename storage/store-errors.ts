import { readFileSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DATA_FILE } from "./data-file.js";
import { rowSpace } from "./keys.js";
import { type Key, StoreError } from "./store.js";

/**
 * Converts an error of LMDB or the operating system into a {@link StoreError} that names the folder and says what to
 * do.
 */
export function storeError(error: unknown, folder: string): StoreError {
  if (error instanceof StoreError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? toName(error.code) : "";
  const options = { cause: error };
  // LMDB reports a partial write as an input/output error.
  if (code === "EIO" || /Input.output error/i.test(text)) {
    if (isAtSizeLimit(folder)) return storeError(new Error("EFBIG"), folder);
    if (isFull(folder)) return storeError(new Error("ENOSPC"), folder);
  }
  if (/EFBIG|File too large/i.test(`${code} ${text}`)) {
    return new StoreError(
      "file-too-large",
      `${join(folder, DATA_FILE)} has reached the file size limit (EFBIG): raise the limit (ulimit -f) and start ` +
        "again; acknowledged data is safe",
      options,
    );
  }
  if (/ENOSPC|EDQUOT|No space left|MDB_MAP_FULL|quota/i.test(`${code} ${text}`)) {
    const name = /EDQUOT|quota/i.test(`${code} ${text}`) ? "EDQUOT" : "ENOSPC";
    return new StoreError(
      "disk-full",
      `the disk with ${folder} is full: free disk space and start again; acknowledged data is safe (${name})`,
      options,
    );
  }
  if (/EACCES|EROFS|EPERM|Permission denied|Read-only/i.test(`${code} ${text}`)) {
    return new StoreError(
      "read-only",
      `cannot write to ${folder}: give this user write permission there (${text})`,
      options,
    );
  }
  if (/EEXIST|ENOTDIR/.test(`${code} ${text}`)) {
    return new StoreError("failed", `${folder} is not a folder, or lies below a file: use another path`, options);
  }
  if (/MDB_CORRUPTED|MDB_INVALID|MDB_PAGE_NOTFOUND|MDB_VERSION_MISMATCH|not an LMDB file|wrong page/i.test(text)) {
    return new StoreError(
      "damaged",
      `the store in ${folder} is damaged: restore a backup into another folder`,
      options,
    );
  }
  if (/MDB_BAD_VALSIZE|key.*(size|large|long)/i.test(text)) {
    return new StoreError("key-too-long", `a key is longer than the store allows: ${text}`, options);
  }
  return new StoreError("failed", `the store in ${folder} failed: ${text}`, options);
}

/** Like {@link storeError}, for a read: an unknown error means that the stored bytes are damaged. */
export function readingError(error: unknown, folder: string): StoreError {
  const found = storeError(error, folder);
  if (found.code !== "failed" || /MDB_/.test(found.message)) return found;
  const text = `cannot read rows of the store in ${folder}: ${whatToDo(folder)}`;
  return new StoreError("damaged", text, { cause: error });
}

/** Creates the error for a row whose stored value differs from the written value. */
export function damagedRow(folder: string, key: Key, cause: unknown): StoreError {
  const text = `a row of the store in ${folder} is damaged (${toPlace(key)}): ${whatToDo(folder)}`;
  return new StoreError("damaged", text, { cause, key });
}

function whatToDo(folder: string): string {
  return `run signalbox doctor --data ${folder}, or restore a backup into another folder`;
}

/** Returns the partition, and the space or table of a key. The other parts may be secret. */
export function toPlace([partition, space, table]: Key): string {
  return `${partition} ${space === rowSpace ? table : space}`;
}

/** Returns the name of an error code. LMDB reports the operating system's numbers (errno.h of Linux). */
function toName(code: unknown): string {
  const names: Readonly<Record<string, string>> = {
    13: "EACCES",
    27: "EFBIG",
    28: "ENOSPC",
    30: "EROFS",
    122: "EDQUOT",
  };
  return names[String(code)] ?? String(code);
}

/** Whether a signal interrupted a write or its flush (EINTR). On some file systems, this happens to `fdatasync`. */
export function isInterrupted(error: unknown): boolean {
  return error instanceof Error && /EINTR|Interrupted system call/.test(error.message);
}

/** If less space than this is free, a failed write counts as `disk-full`. */
const FULL_BYTES = 16 * 1024 * 1024;
/** If a file is closer than this to its size limit, a failed write counts as `file-too-large`. */
const PAGE_BYTES = 64 * 1024;

/** Whether the data file has reached the process's file size limit. LMDB writes at least one page. */
function isAtSizeLimit(folder: string): boolean {
  try {
    const limit = /^Max file size\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit !== undefined && statSync(join(folder, DATA_FILE)).size + PAGE_BYTES > Number(limit);
  } catch {
    return false;
  }
}

function isFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < FULL_BYTES;
  } catch {
    return false;
  }
}
