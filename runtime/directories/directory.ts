import { GLOBAL_PARTITION, rowSpace } from "../../storage/keys.js";
import type { Key, KeyPart, Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** An entry of a directory: maps `id` to `row`. Plain data. */
export interface DirectoryEntry {
  /** The directory's name. */
  readonly directory: string;
  readonly id: readonly KeyPart[];
  readonly row: unknown;
}

/** The writes of a turn: rows in the actor's own partition, and directory entries that point to these rows. */
export interface DirectedWriting extends Writing {
  /** Adds or replaces an entry in its directory. */
  direct(entry: DirectoryEntry): void;
  /** Removes an entry from its directory. Has no effect if the entry is absent. */
  undirect(entry: DirectoryEntry): void;
}

/**
 * A lookup table in the global partition that says which partition holds something. Its row keys are `[~, "row", name,
 * ...id]`.
 *
 * 1. An entry is only a pointer. The row in the partition is authoritative.
 * 2. A turn declares entries, and the runtime writes them before it sends the turn's answer. While one process holds
 *   both partitions, the runtime writes the entries in the turn's own batch.
 * 3. Entries are derived from the contents of partitions, so a directory can be rebuilt (`rebuild-directories.ts`).
 */
export interface Directory<Row> {
  /** Unique among all directories and tables. */
  readonly name: string;
  entry(id: KeyPart | readonly KeyPart[], row: Row): DirectoryEntry;
  find(reading: Reading, ...id: KeyPart[]): Row | undefined;
  /** Lists the rows whose ids begin with `under`, ordered by id. */
  list(reading: Reading, ...under: KeyPart[]): Row[];
}

/** Declares the directory `name`. */
export function directory<Row>(name: string): Directory<Row> {
  const rows = table<Row>(name);
  return {
    name,
    entry: (id, row) => ({ directory: name, id: typeof id === "object" ? id : [id], row }),
    find: (reading, ...id) => rows.get(reading, GLOBAL_PARTITION, ...id),
    list: (reading, ...under) => rows.list(reading, GLOBAL_PARTITION, under),
  };
}

/** Returns the store key of an entry. */
export function directoryKey({ directory: name, id }: Pick<DirectoryEntry, "directory" | "id">): Key {
  return [GLOBAL_PARTITION, rowSpace, name, ...id];
}
