import { closeSync, fsyncSync, openSync } from "node:fs";

/**
 * Calls fsync on a file or folder. A new file survives a power loss only if both the file and its folder were synced.
 */
export function syncToDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
