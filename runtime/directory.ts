import { GLOBAL_PARTITION, rowSpace } from "../storage/keys.js";
import type { Key, KeyPart, Reading, Writing } from "../storage/store.js";
import { table } from "../storage/table.js";

/** An entry of a directory: `id` leads to `row`. Plain data. */
export interface DirectoryEntry {
  /** The directory's name. */
  readonly directory: string;
  readonly id: readonly KeyPart[];
  readonly row: unknown;
}

/** What a turn writes: rows of its own partition, and directory entries that lead to them. */
export interface DirectedWriting extends Writing {
  /** Adds or replaces the entry in its directory. */
  direct(entry: DirectoryEntry): void;
  /** Removes the entry from its directory; an absent one is fine. */
  undirect(entry: DirectoryEntry): void;
}

/**
 * Rows in the global partition that say in which partition something is: `[~, "row", name, ...id]`.
 *
 * 1. An entry is only a pointer: the row in the partition decides.
 * 2. A turn declares entries, and the runtime writes them: in the turn's own batch while one process holds both
 *    partitions, and in any case before the turn's answer leaves.
 * 3. Entries are derived from the contents of partitions, so a directory can be rebuilt (`rebuild-directories.ts`).
 */
export interface Directory<Row> {
  /** Unique among directories and tables. */
  readonly name: string;
  entry(id: KeyPart | readonly KeyPart[], row: Row): DirectoryEntry;
  find(reading: Reading, ...id: KeyPart[]): Row | undefined;
  /** Rows whose ids begin with `under`, in the order of the ids. */
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

/** The store key of an entry. */
export function directoryKey({ directory: name, id }: Pick<DirectoryEntry, "directory" | "id">): Key {
  return [GLOBAL_PARTITION, rowSpace, name, ...id];
}
