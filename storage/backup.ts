import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { checkDataFile, DATA_FILE } from "./data-file.js";
import { StoreError } from "./store.js";
import { storeError } from "./store-errors.js";

/** Makes `folder` (mode 0700) and lets `copy` write a consistent copy into it; `not-empty` when it holds something. */
export async function backupInto(folder: string, copy: (folder: string) => Promise<unknown>): Promise<void> {
  prepareTarget(folder);
  try {
    await copy(folder);
  } catch (error) {
    throw storeError(error, folder);
  }
}

/**
 * Puts a backup into a folder that a service can then be started on. The backup is checked first and left as it is;
 * the target must be absent or empty.
 */
export function restoreBackup(options: { readonly from: string; readonly folder: string }): void {
  if (!existsSync(join(options.from, DATA_FILE))) {
    throw new StoreError("failed", `${options.from} holds no backup: there is no ${DATA_FILE} in it`);
  }
  checkDataFile(options.from);
  prepareTarget(options.folder);
  copyFileSync(join(options.from, DATA_FILE), join(options.folder, DATA_FILE));
}

function prepareTarget(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new StoreError("not-empty", `${folder} is not empty: name a folder that is absent or empty`);
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}
