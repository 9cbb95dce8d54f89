import { closeSync, constants, fchmodSync, fstatSync, openSync, renameSync, writeFileSync } from "node:fs";

/** Maximum size of the log file, in bytes. One earlier file, of up to this size, is retained. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * The flags open the file to append to it. They refuse a symbolic link, which git may create at the path while the
 * service runs.
 */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/**
 * Opens a log file that only its owner can read. Throws if the file cannot be opened. A full file is renamed to
 * `<path>.1` and replaces the earlier `<path>.1`, so the log has at most twice `maxBytes`. Lines that cannot be written
 * later, for example after the folder was moved, are dropped.
 */
export function openLogFile(path: string, maxBytes = MAX_BYTES): { write(text: string): void } {
  let bytes = append(path, "");
  return {
    write: (text) => {
      try {
        if (bytes > 0 && bytes + Buffer.byteLength(text) > maxBytes) renameSync(path, `${path}.1`);
        bytes = append(path, text);
      } catch {
        // Ignore the error: work continues without the log.
      }
    },
  };
}

/** Appends to a file that only its owner can read. Returns the size of the file. */
function append(path: string, text: string): number {
  const file = openSync(path, FLAGS, 0o600);
  try {
    fchmodSync(file, 0o600);
    writeFileSync(file, text);
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}
