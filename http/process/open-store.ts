import { migrations } from "../../actors/migrations.js";
import { isRebuildCutShort } from "../../runtime/rebuild-directories.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { checkFormat, type MigrateOptions, type MigrationStep, migrate } from "../../storage/migrations.js";
import type { Store } from "../../storage/store.js";
import { WrongSetting } from "./config.js";

/** `steps` are those of the catalogue by default; `mustExist` refuses a folder without a store. */
export type OpenStoreOptions = Omit<MigrateOptions, "steps"> & {
  readonly steps?: readonly MigrationStep[] | undefined;
  readonly mustExist?: boolean;
};

/** Opens and migrates the store in a folder; leaves it closed when either fails. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { folder, mustExist = false } = options;
  const store = await openLmdbStore({ folder, mustExist });
  try {
    await migrateToCurrent(store, options);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * The store to serve, in the format of this release: the given one, or the folder's. Throws {@link WrongSetting}, and
 * closes what it opened, when a rebuild of the directories was interrupted.
 */
export async function openServedStore(given: Store | undefined, options: OpenStoreOptions): Promise<Store> {
  if (given !== undefined) await migrateToCurrent(given, options);
  const store = given ?? (await openStore(options));
  if (!isRebuildCutShort(store.reading)) return store;
  if (given === undefined) await store.close();
  const { folder } = options;
  throw new WrongSetting(
    `The directory in ${folder} was not rebuilt to its end: run signalbox rebuild-directory --data ${folder} ` +
      "(in a clone: npm run rebuild-directory -- --data …)",
  );
}

function migrateToCurrent(store: Store, options: OpenStoreOptions): Promise<void> {
  return migrate(store, { ...options, steps: options.steps ?? migrations });
}

/**
 * Opens a folder's store for reading, even while a service uses it. Reads older formats as they are, refuses newer
 * ones.
 */
export async function openStoreForReading(folder: string): Promise<Store> {
  const store = await openLmdbStore({ folder, readOnly: true });
  try {
    checkFormat(store.reading, { folder, steps: migrations });
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
