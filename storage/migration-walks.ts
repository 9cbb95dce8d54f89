import { rowSpace } from "./keys.js";
import type { Slice, Walk } from "./migrations.js";
import type { Change, Key, KeyPart, Reading } from "./store.js";

/** See {@link Walk}. */
export type WalkOptions = Pick<Walk, "of" | "maxEntries">;

/** The place of a row, and the store for further reads. */
export interface RowLocation {
  readonly partition: string;
  /** The parts of its key after the table's name. */
  readonly id: readonly KeyPart[];
  /** The store before the slice is committed. */
  readonly reading: Reading;
}

/**
 * Walks the rows of a table. `changes` is pure, and returns nothing for rows that it has migrated already. Rows are
 * assumed to be of type `Row`. A step defines its own types for old rows, and names tables by their text, since the
 * declarations of the areas may change later.
 */
export function eachRow<Row>(
  table: string,
  changes: (row: Row, place: RowLocation) => readonly Change[],
  options: WalkOptions = {},
): Walk {
  return {
    ...options,
    under: [rowSpace, table],
    changes: ({ partition, entries, reading }: Slice) =>
      entries.flatMap(({ key, value }) => changes(value as Row, { partition, id: key.slice(3), reading })),
  };
}

/** Writes every entry of a space again as it is, which gives its value the stored form of this release. */
export function rewriteSpace(space: string, options: WalkOptions = {}): Walk {
  const changes = ({ entries }: Slice) => entries.map(({ key, value }): Change => ({ op: "put", key, value }));
  return { ...options, under: [space], changes };
}

/** Removes all rows of a table. */
export function removeTable(table: string, options: WalkOptions = {}): Walk {
  const changes = ({ entries }: Slice) => entries.map(({ key }): Change => ({ op: "remove", key }));
  return { ...options, under: [rowSpace, table], changes };
}

/** The change that writes a row of a table. */
export function putRow(
  { partition }: Pick<RowLocation, "partition">,
  table: string,
  id: readonly KeyPart[],
  row: unknown,
): Change {
  return { op: "put", key: rowKey(partition, table, id), value: row };
}

/** The change that removes a row of a table. */
export function removeRow(
  { partition }: Pick<RowLocation, "partition">,
  table: string,
  id: readonly KeyPart[],
): Change {
  return { op: "remove", key: rowKey(partition, table, id) };
}

function rowKey(partition: string, table: string, id: readonly KeyPart[]): Key {
  return [partition, rowSpace, table, ...id];
}
