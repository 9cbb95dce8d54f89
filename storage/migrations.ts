import { GLOBAL_PARTITION, metaSpace } from "./keys.js";
import { type Change, type Key, type Store, StoreError } from "./store.js";

/** The format this code writes. Rises when stored rows change their shape or keys. */
export const FORMAT_VERSION = 1;

const FORMAT_KEY: Key = [GLOBAL_PARTITION, metaSpace, "format"];

/** What brings a store from format `index + 1` to the next, in one batch. */
const steps: readonly ((store: Store) => readonly Change[])[] = [];

/** Marks a new store, brings an older one up to date, and refuses a newer one with `newer-format`. */
export async function migrate(store: Store, folder: string, readOnly: boolean): Promise<void> {
  const found = store.reading.get<number>(FORMAT_KEY);
  if (found !== undefined && found > FORMAT_VERSION) {
    throw new StoreError(
      "newer-format",
      `the store in ${folder} has format ${found}, this release reads up to ${FORMAT_VERSION}: use a newer release`,
    );
  }
  if (readOnly || found === FORMAT_VERSION) return;
  for (let version = found ?? FORMAT_VERSION; version < FORMAT_VERSION; version++) {
    const changes = steps[version - 1]?.(store) ?? [];
    await store.commit([...changes, { op: "put", key: FORMAT_KEY, value: version + 1 }]);
  }
  if (found === undefined) await store.commit([{ op: "put", key: FORMAT_KEY, value: FORMAT_VERSION }]);
}
