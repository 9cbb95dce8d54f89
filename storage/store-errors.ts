import { statfsSync } from "node:fs";
import { StoreError } from "./store.js";

/** Converts an error of LMDB or the system into a {@link StoreError} that names the folder and says what to do. */
export function storeError(error: unknown, folder: string): StoreError {
  if (error instanceof StoreError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? nameOf(error.code) : "";
  const options = { cause: error };
  // LMDB reports a partial write as an input/output error.
  if ((code === "EIO" || /Input.output error/i.test(text)) && isFull(folder))
    return storeError(new Error("ENOSPC"), folder);
  if (/ENOSPC|EFBIG|EDQUOT|No space left|File too large|MDB_MAP_FULL|quota/i.test(`${code} ${text}`)) {
    return new StoreError(
      "disk-full",
      `the disk that holds ${folder} is full: make room and start again; what was acknowledged is there`,
      options,
    );
  }
  if (/EACCES|EROFS|EPERM|Permission denied|Read-only/i.test(`${code} ${text}`)) {
    return new StoreError("read-only", `${folder} cannot be written: give this user the right to write there`, options);
  }
  if (/EEXIST|ENOTDIR/.test(`${code} ${text}`)) {
    return new StoreError("failed", `${folder} is no folder, or lies below a file: name another`, options);
  }
  if (/MDB_CORRUPTED|MDB_INVALID|MDB_PAGE_NOTFOUND|MDB_VERSION_MISMATCH|not an LMDB file|wrong page/i.test(text)) {
    return new StoreError(
      "damaged",
      `the store in ${folder} is damaged: restore a backup into another folder`,
      options,
    );
  }
  if (/MDB_BAD_VALSIZE|key.*(size|large|long)/i.test(text)) {
    return new StoreError("key-too-long", `a key is longer than the store takes: ${text}`, options);
  }
  return new StoreError("failed", `the store in ${folder} failed: ${text}`, options);
}

/** Like {@link storeError}, for a read: an unknown error means that the stored bytes are damaged. */
export function readingError(error: unknown, folder: string): StoreError {
  const found = storeError(error, folder);
  if (found.code !== "failed" || /MDB_/.test(found.message)) return found;
  const text = `a row of the store in ${folder} cannot be read back: restore a backup into another folder`;
  return new StoreError("damaged", text, { cause: error });
}

/** The name of an error code; LMDB reports the system's numbers (errno.h of Linux). */
function nameOf(code: unknown): string {
  const names: Readonly<Record<string, string>> = {
    13: "EACCES",
    27: "EFBIG",
    28: "ENOSPC",
    30: "EROFS",
    122: "EDQUOT",
  };
  return names[String(code)] ?? String(code);
}

/** With less free space than this, a failed write counts as `disk-full`. */
const FULL_BYTES = 16 * 1024 * 1024;

function isFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < FULL_BYTES;
  } catch {
    return false;
  }
}
