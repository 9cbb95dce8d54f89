import { actorSpace } from "../../storage/keys.js";
import type { Entry, Key, Reading } from "../../storage/store.js";
import type { Table } from "../../storage/table.js";
import type { StoredState } from "../cells/actor-type.js";
import { type Address, address } from "../cells/address.js";
import type { CellRecord } from "../cells/cell-record.js";
import type { DirectoryEntry } from "./directory.js";

/**
 * A source for rebuilding directories. `prefix` says where a partition's store entries are, and `toEntries` derives
 * directory entries from one of them.
 */
export interface DirectorySource {
  prefix(partition: string): Key;
  toEntries(found: Entry, reading: Reading): readonly DirectoryEntry[];
}

/** The partition of a row, and a reading for further lookups. */
export interface SourceContext {
  readonly partition: string;
  readonly reading: Reading;
}

/** Derives directory entries from the rows of a table. */
export function rowSource<Row>(
  rows: Pick<Table<Row>, "key" | "get">,
  toEntries: (row: Row, context: SourceContext) => readonly DirectoryEntry[],
): DirectorySource {
  return {
    prefix: (partition) => rows.key(partition),
    toEntries: ({ key, value }, reading) => toEntries(value as Row, { partition: String(key[0]), reading }),
  };
}

/**
 * Derives directory entries from the stored states of one actor kind. Actors of this kind must never start an effect,
 * because their record would then be in the effect's row.
 */
export function stateSource(
  kind: string,
  toEntries: (state: StoredState, of: Address) => readonly DirectoryEntry[],
): DirectorySource {
  return {
    prefix: (partition) => [partition, actorSpace, kind],
    toEntries: ({ key, value }) => {
      const { state } = value as CellRecord;
      return state === undefined ? [] : toEntries(state, address(String(key[0]), kind, String(key[3])));
    },
  };
}
