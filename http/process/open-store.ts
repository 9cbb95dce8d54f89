import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../actors/catalogue.js";
import { isRebuildCutShort } from "../../runtime/directories/rebuild-directories.js";
import { type Compacted, compactStore } from "../../storage/compaction.js";
import { DATA_FILE } from "../../storage/data-file.js";
import { copyOfFormat } from "../../storage/format-copy.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import {
  checkFormat,
  type Formats,
  findFormats,
  isCurrentFormat,
  type MigrateOptions,
  MigrationCutShort,
  type MigrationStep,
  migrate,
} from "../../storage/migrations.js";
import { type Reading, type Store, StoreError } from "../../storage/store.js";
import { prepareFolder } from "../../storage/store-folder.js";
import { WrongSetting } from "./config.js";
import { holdsSecretsKey } from "./secrets-key.js";

/**
 * Options for opening a store. `steps` defaults to the catalogue's migration steps. If `mustExist` is set, a folder
 * without a store is rejected instead of creating one.
 */
export type OpenStoreOptions = Omit<MigrateOptions, "steps" | "copyFirst"> & {
  readonly steps?: readonly MigrationStep[] | undefined;
  readonly mustExist?: boolean;
  /** Whether to use the store without changing it. It must exist, in this release's format. */
  readonly isReadOnly?: boolean;
  /** Called once the store is open and this release can read it, before it is migrated. */
  readonly opened?: (formats: Formats) => void;
};

/**
 * Opens the store in a folder. If the store needs a migration, copies the store's file and then migrates the store. If
 * a step fails, closes the store.
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  return (await openMigrated(options)).store;
}

/** An open store in this release's format. `wasCurrent` says whether it had this format before it was opened. */
export interface ServedStore {
  readonly store: Store;
  readonly wasCurrent: boolean;
}

async function openMigrated(options: OpenStoreOptions): Promise<ServedStore> {
  const { folder, ending, mustExist = false, isReadOnly = false } = options;
  assertNotEmptied(folder);
  const store = await openLmdbStore({ folder, mustExist: mustExist || isReadOnly });
  const copyFirst = (from: number, to: number) =>
    copyOfFormat({ folder, from, to, ending }).catch((error: unknown) => {
      throw ending?.aborted === true ? new MigrationCutShort(`interrupted while ${DATA_FILE} was being copied`) : error;
    });
  try {
    return { store, wasCurrent: await toCurrent(store, { ...options, copyFirst }) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Returns the store that the service uses, in this release's format: `given`, or else the store in the folder. Throws
 * {@link WrongSetting} if a rebuild of the store's directories was interrupted, and then closes a store that it opened.
 */
export async function openServedStore(given: Store | undefined, options: OpenStoreOptions): Promise<ServedStore> {
  const served =
    given === undefined ? await openMigrated(options) : { store: given, wasCurrent: await toCurrent(given, options) };
  const { store } = served;
  if (!isRebuildCutShort(store.reading)) return served;
  if (given === undefined) await store.close();
  const { folder } = options;
  throw new WrongSetting(
    `The last rebuild of the directory in ${folder} did not finish: run signalbox rebuild-directory --data ${folder}`,
  );
}

/**
 * Opens the store of a stopped service, or a backup, for `signalbox doctor`. Does not migrate it: it must have this
 * release's format. If the files are write-protected, opens the store read-only.
 */
export async function openStoreForDoctor(folder: string): Promise<Store> {
  assertNotEmptied(folder);
  const store = await openLmdbStore({ folder, mustExist: true, checksAllPages: true }).catch((error: unknown) => {
    if (error instanceof StoreError && error.code === "read-only")
      return openLmdbStore({ folder, readOnly: true, checksAllPages: true });
    throw error;
  });
  try {
    assertCurrentFormat(store.reading, folder);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

function assertCurrentFormat(reading: Reading, folder: string): void {
  checkFormat(reading, { folder, steps: migrations });
  if (isCurrentFormat(reading, migrations)) return;
  throw new StoreError(
    "failed",
    `the store in ${folder} has an older format: start this release on it, or on a copy, to migrate it`,
  );
}

/**
 * Compacts the file of a stopped service's store to the size of its data. The store must have this release's format.
 */
export function compactStoppedStore(folder: string): Promise<Compacted> {
  assertNotEmptied(folder);
  return compactStore({ folder, check: (reading) => assertCurrentFormat(reading, folder) });
}

/** Rejects with a {@link StoreError} while a service uses the folder. Creates the folder if it is missing. */
export async function assertNotServed(folder: string): Promise<void> {
  const unlock = await prepareFolder(folder);
  unlock();
}

/**
 * Whether an error is a {@link StoreError}. The message of such an error is meant for the person who runs the program.
 */
export function isStoreError(error: unknown): error is StoreError {
  return error instanceof StoreError;
}

/** Whether a folder contains a store. The store may be damaged. */
export function holdsStore(folder: string): boolean {
  return existsSync(join(folder, DATA_FILE));
}

/**
 * Throws `damaged` if the folder has a secrets key but its data file is empty. The service creates a key only after the
 * data file has content, so such an empty file means that data was lost.
 */
function assertNotEmptied(folder: string): void {
  const path = join(folder, DATA_FILE);
  if (!holdsSecretsKey(folder) || statSync(path, { throwIfNoEntry: false })?.size !== 0) return;
  throw new StoreError(
    "damaged",
    `${path} is empty, but the key of a used store is beside it; nothing was changed. Restore a backup into ` +
      "another folder, or remove the empty file to start a new store with this key",
  );
}

/**
 * Migrates a store to this release's format. Returns whether it already had that format. A read-only store is never
 * migrated: an older format throws.
 */
async function toCurrent(
  store: Store,
  options: OpenStoreOptions & Pick<MigrateOptions, "copyFirst">,
): Promise<boolean> {
  const { folder, steps = migrations, isReadOnly = false, opened } = options;
  const wasCurrent = isCurrentFormat(store.reading, steps);
  checkFormat(store.reading, { folder, steps });
  if (isReadOnly && !wasCurrent) {
    throw new StoreError(
      "failed",
      `the store in ${folder} has an older format, and --read-only does not migrate: use the release that wrote ` +
        "it, or start this release on another copy without --read-only first, which migrates that copy",
    );
  }
  opened?.(findFormats(store.reading, steps));
  if (!wasCurrent) await migrate(store, { ...options, steps });
  return wasCurrent;
}

/**
 * Opens a folder's store for reading, even while a service uses it. Reads older formats unchanged and rejects newer
 * ones.
 */
export async function openStoreForReading(folder: string): Promise<Store> {
  assertNotEmptied(folder);
  const store = await openLmdbStore({ folder, readOnly: true });
  try {
    checkFormat(store.reading, { folder, steps: migrations });
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
