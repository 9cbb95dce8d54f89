import { GLOBAL_PARTITION, metaSpace } from "../storage/keys.js";
import { listPartitions } from "../storage/partitions.js";
import type { Change, Entry, Key, Reading, Store } from "../storage/store.js";
import { directoryKey } from "./directory.js";
import type { DirectorySource } from "./directory-source.js";

/** Directories, and what all their entries follow from. */
export interface DirectoryCatalogue {
  readonly names: readonly string[];
  readonly sources: readonly DirectorySource[];
}

/** Rows read, and written in one batch. */
const SLICE = 1_000;
/** Stands while a rebuild is under way. */
const MARK: Key = [GLOBAL_PARTITION, metaSpace, "directories-rebuilding"];

/**
 * Makes the directories anew from what the partitions hold, and tells how many entries there are now. For a store that
 * no runtime is on. In slices: one that is cut short leaves directories without some of their entries, and is told by
 * {@link isRebuildCutShort} until it was done again.
 */
export async function rebuildDirectories(store: Store, { names, sources }: DirectoryCatalogue): Promise<number> {
  const { reading } = store;
  await store.commit([{ op: "put", key: MARK, value: true }]);
  for (const name of names) {
    for (const slice of listSlices(reading, directoryKey({ directory: name, id: [] }))) {
      await store.commit(slice.map(({ key }) => ({ op: "remove", key })));
    }
  }
  let count = 0;
  for (const partition of listPartitions(reading)) {
    for (const source of sources) {
      for (const slice of listSlices(reading, source.prefix(partition))) {
        const entries = slice.flatMap((found) => source.toEntries(found, reading));
        count += entries.length;
        await store.commit(entries.map((entry): Change => ({ op: "put", key: directoryKey(entry), value: entry.row })));
      }
    }
  }
  await store.commit([{ op: "remove", key: MARK }]);
  return count;
}

/** Whether the directories lack entries because a rebuild did not come to its end. */
export function isRebuildCutShort(reading: Reading): boolean {
  return reading.get(MARK) !== undefined;
}

/** What lies below a prefix, some at a time, in order; what goes meanwhile does no harm. */
function* listSlices(reading: Reading, prefix: Key): Generator<Entry[]> {
  let after: Key | undefined;
  for (;;) {
    const slice = reading.range({ prefix, after, limit: SLICE });
    if (slice.length > 0) yield slice;
    after = slice.at(-1)?.key;
    if (slice.length < SLICE) return;
  }
}
