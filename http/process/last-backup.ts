import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LAST_BACKUP_FILE } from "../../storage/store-folder.js";

/** Records in a data folder when its store was last backed up. Throws if the folder is write-protected. */
export function noteBackup(folder: string, atMs: number): void {
  writeFileSync(join(folder, LAST_BACKUP_FILE), `${new Date(atMs).toISOString()}\n`, { mode: 0o600 });
}

/**
 * Returns when `signalbox backup` last copied the store of a data folder; null if it never did, or could not record it.
 */
export function readLastBackup(folder: string): number | null {
  try {
    const atMs = Date.parse(readFileSync(join(folder, LAST_BACKUP_FILE), "utf8").trim());
    return Number.isNaN(atMs) ? null : atMs;
  } catch {
    return null;
  }
}
