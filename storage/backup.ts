import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkDataFile, DATA_FILE } from "./data-file.js";
import { syncToDisk } from "./durable-files.js";
import { StoreError } from "./store.js";
import { storeError } from "./store-errors.js";
import { makeFolder } from "./store-folder.js";

/**
 * Calls `copy` to write a consistent copy into `folder`. Resolves when the copy is on disk, readable only by this user.
 * Rejects with `not-empty` if the folder has contents. If the copy fails, removes the files that it wrote.
 */
export async function backupInto(folder: string, copy: (folder: string) => Promise<unknown>): Promise<void> {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new StoreError("not-empty", `${folder} is not empty: name a folder that is absent or empty`);
  }
  const file = join(folder, DATA_FILE);
  let made: string | undefined;
  try {
    made = makeFolder(folder);
    await copy(folder);
    chmodSync(file, 0o600);
    for (const path of [file, folder, dirname(folder)]) syncToDisk(path);
  } catch (error) {
    rmSync(made ?? file, { recursive: true, force: true });
    throw storeError(error, folder);
  }
}

/**
 * Copies a backup into a folder from which a service can then start. Checks the backup first and does not change it.
 * The target must be absent or empty.
 */
export async function restoreBackup(options: { readonly from: string; readonly folder: string }): Promise<void> {
  const source = join(options.from, DATA_FILE);
  if (!existsSync(source)) {
    throw new StoreError("failed", `${options.from} is not a backup: it has no ${DATA_FILE}`);
  }
  checkDataFile(options.from);
  await backupInto(options.folder, async (folder) => copyFileSync(source, join(folder, DATA_FILE)));
}
