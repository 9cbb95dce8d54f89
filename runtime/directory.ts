import { GLOBAL_PARTITION, rowSpace } from "../storage/keys.js";
import type { Key, KeyPart, Reading, Writing } from "../storage/store.js";
import { table } from "../storage/table.js";

/** What a directory is told: `id` leads to `row`. Plain data. */
export interface DirectoryEntry {
  /** The directory's name. */
  readonly directory: string;
  readonly id: readonly KeyPart[];
  readonly row: unknown;
}

/** What is written in a turn: rows of the own partition, and what directories say of them. */
export interface DirectedWriting extends Writing {
  /** Has the entry's directory lead from its id to its row. */
  direct(entry: DirectoryEntry): void;
  /** Takes the entry out of its directory; one that is not there is fine. */
  undirect(entry: DirectoryEntry): void;
}

/**
 * Rows under the global partition that lead to the partition where something is kept: `[~, "row", name, ...id]`.
 *
 * 1. An entry only leads: whoever follows it asks the row in the partition, which decides.
 * 2. A turn declares entries, and the runtime writes them: in the turn's own batch while one process holds both
 *    partitions, and in any case before the turn's answer leaves.
 * 3. Entries follow from what the partitions hold, so that a directory can be rebuilt (`rebuild-directories.ts`).
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

/** Where an entry's row is kept. */
export function directoryKey({ directory: name, id }: Pick<DirectoryEntry, "directory" | "id">): Key {
  return [GLOBAL_PARTITION, rowSpace, name, ...id];
}
