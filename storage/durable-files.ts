import { closeSync, fsyncSync, openSync } from "node:fs";

/**
 * Has the system write to the disk what a file holds, or the names in a folder: only after that is a new file sure to
 * be found again.
 */
export function syncToDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
