import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkDataFile, DATA_FILE } from "./data-file.js";
import { syncToDisk } from "./durable-files.js";
import { StoreError } from "./store.js";
import { storeError } from "./store-errors.js";
import { makeFolder } from "./store-folder.js";

/**
 * Lets `copy` write a consistent copy into `folder`; resolves when it is on disk, readable only by this user.
 * Rejects with `not-empty` when the folder has contents. The remains of a failed copy are removed.
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
 * Copies a backup into a folder on which a service can then be started. The backup is checked first and not changed;
 * the target must be absent or empty.
 */
export async function restoreBackup(options: { readonly from: string; readonly folder: string }): Promise<void> {
  const source = join(options.from, DATA_FILE);
  if (!existsSync(source)) {
    throw new StoreError("failed", `${options.from} holds no backup: there is no ${DATA_FILE} in it`);
  }
  checkDataFile(options.from);
  await backupInto(options.folder, async (folder) => copyFileSync(source, join(folder, DATA_FILE)));
}
