import { actorSpace } from "../storage/keys.js";
import type { Entry, Key, Reading } from "../storage/store.js";
import type { Table } from "../storage/table.js";
import type { StoredState } from "./actor-type.js";
import { type Address, address } from "./address.js";
import type { CellRecord } from "./cell-record.js";
import type { DirectoryEntry } from "./directory.js";

/** What a directory is rebuilt from: what a partition holds under a prefix, and the entries that follow from each of it. */
export interface DirectorySource {
  prefix(partition: string): Key;
  toEntries(found: Entry, reading: Reading): readonly DirectoryEntry[];
}

/** Where a row stands, and what else may be read for its entries. */
export interface SourceContext {
  readonly partition: string;
  readonly reading: Reading;
}

/** Entries that follow from the rows of a table. */
export function rowSource<Row>(
  rows: Pick<Table<Row>, "key" | "get">,
  toEntries: (row: Row, context: SourceContext) => readonly DirectoryEntry[],
): DirectorySource {
  return {
    prefix: (partition) => rows.key(partition),
    toEntries: ({ key, value }, reading) => toEntries(value as Row, { partition: String(key[0]), reading }),
  };
}

/** Entries that follow from the stored state of the actors of a kind that never have an effect. */
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
