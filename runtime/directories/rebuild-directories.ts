import { GLOBAL_PARTITION, metaSpace } from "../../storage/keys.js";
import { listPartitions } from "../../storage/partitions.js";
import type { Change, Entry, Key, Reading, Store } from "../../storage/store.js";
import { directoryKey } from "./directory.js";
import type { DirectorySource } from "./directory-source.js";

/** The names of all directories, and the sources of all their entries. */
export interface DirectoryCatalogue {
  readonly names: readonly string[];
  readonly sources: readonly DirectorySource[];
}

/**
 * Number of store entries to read at a time. The directory entries that are derived from them are written in one batch.
 */
const SLICE = 1_000;
/** The key of the mark that is present while a rebuild is running or was interrupted. */
const MARK: Key = [GLOBAL_PARTITION, metaSpace, "directories-rebuilding"];

/**
 * Rebuilds the directories from the contents of all partitions, and returns the number of entries. Stop the store's
 * runtime first. The rebuild works in slices. If it is interrupted, the directories are incomplete, and {@link
 * isRebuildCutShort} returns true until a rebuild completes.
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

/** Whether the directories are incomplete because a rebuild was interrupted. */
export function isRebuildCutShort(reading: Reading): boolean {
  return reading.get(MARK) !== undefined;
}

/** Yields the entries below a prefix in slices, in key order. The caller may remove entries between slices. */
function* listSlices(reading: Reading, prefix: Key): Generator<Entry[]> {
  let after: Key | undefined;
  for (;;) {
    const slice = reading.range({ prefix, after, limit: SLICE });
    if (slice.length > 0) yield slice;
    after = slice.at(-1)?.key;
    if (slice.length < SLICE) return;
  }
}
