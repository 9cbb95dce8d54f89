import { GLOBAL_PARTITION, metaSpace } from "./keys.js";
import { type Change, type Key, type Reading, type Store, StoreError } from "./store.js";

/** What brings a store from one format to the next, in one batch. */
export type MigrationStep = (reading: Reading) => readonly Change[];

/** The step at `index` brings a store from format `index + 1` to the next: one is added when rows change their form. */
const steps: readonly MigrationStep[] = [];

const FORMAT_KEY: Key = [GLOBAL_PARTITION, metaSpace, "format"];

export interface MigrateOptions {
  readonly folder: string;
  /** Looks at the format only: an older one stays as it is. */
  readonly readOnly: boolean;
  readonly steps?: readonly MigrationStep[];
}

/** Marks a new store, brings an older one up to date, and refuses a newer one with `newer-format`. */
export async function migrate(store: Store, options: MigrateOptions): Promise<void> {
  const wanted = options.steps ?? steps;
  const current = wanted.length + 1;
  const found = store.reading.get<number>(FORMAT_KEY);
  if (found !== undefined && found > current) {
    throw new StoreError(
      "newer-format",
      `the store in ${options.folder} has format ${found}, this release reads up to ${current}: use a newer release`,
    );
  }
  if (options.readOnly) return;
  if (found === undefined) return store.commit([{ op: "put", key: FORMAT_KEY, value: current }]);
  for (const [index, step] of wanted.entries()) {
    if (index + 1 < found) continue;
    await store.commit([...step(store.reading), { op: "put", key: FORMAT_KEY, value: index + 2 }]);
  }
}
