import { migrations } from "../../actors/migrations.js";
import { isRebuildCutShort } from "../../runtime/rebuild-directories.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { checkFormat, type MigrateOptions, type MigrationStep, migrate } from "../../storage/migrations.js";
import type { Store } from "../../storage/store.js";
import { WrongSetting } from "./config.js";

/** `steps` are those of the catalogue unless a test has its own. */
export type OpenStoreOptions = Omit<MigrateOptions, "steps"> & {
  readonly steps?: readonly MigrationStep[] | undefined;
};

/** Opens the store in a folder and brings it up to date; rejects, and leaves it closed, where either fails. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const store = await openLmdbStore({ folder: options.folder });
  try {
    await bringUpToDate(store, options);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * The store that is to be served, in the format of this release: the one given, else the folder's. Throws
 * {@link WrongSetting}, and leaves an opened one closed, where a rebuild of its directories was cut short.
 */
export async function openServedStore(given: Store | undefined, options: OpenStoreOptions): Promise<Store> {
  if (given !== undefined) await bringUpToDate(given, options);
  const store = given ?? (await openStore(options));
  if (!isRebuildCutShort(store.reading)) return store;
  if (given === undefined) await store.close();
  const { folder } = options;
  throw new WrongSetting(
    `The directory in ${folder} was not rebuilt to its end: run npm run rebuild-directory -- --data ${folder}`,
  );
}

/** Takes the steps that an open store lacks. */
function bringUpToDate(store: Store, options: OpenStoreOptions): Promise<void> {
  return migrate(store, { ...options, steps: options.steps ?? migrations });
}

/** Opens the store in a folder beside a process that may serve it. An older one is read as it is, a newer one refused. */
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
