import { rowSpace } from "./keys.js";
import type { Slice, Walk } from "./migrations.js";
import type { Change, Key, KeyPart, Reading } from "./store.js";

/** See {@link Walk}. */
export type WalkOptions = Pick<Walk, "of" | "maxEntries" | "skipsDamage">;

/** The location of a row, and the store for other reads. */
export interface RowLocation {
  readonly partition: string;
  /** The parts of the row's key after the table name. */
  readonly id: readonly KeyPart[];
  /** The store before the slice is committed. */
  readonly reading: Reading;
}

/**
 * Walks the rows of a table. `changes` must be pure and return nothing for rows that it has already migrated. Rows are
 * assumed to have type `Row`. A step defines its own types for old rows and uses table names as text, because the
 * current declarations may change later.
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

/** Rewrites every entry of a space unchanged, so that its value gets the stored form of this release. */
export function rewriteSpace(space: string, options: WalkOptions = {}): Walk {
  const changes = ({ entries }: Slice) => entries.map(({ key, value }): Change => ({ op: "put", key, value }));
  return { ...options, under: [space], changes };
}

/** Removes all rows of a table. */
export function removeTable(table: string, options: WalkOptions = {}): Walk {
  const changes = ({ entries }: Slice) => entries.map(({ key }): Change => ({ op: "remove", key }));
  return { ...options, under: [rowSpace, table], changes };
}

/** Returns the change that writes a row of a table. */
export function putRow(
  { partition }: Pick<RowLocation, "partition">,
  table: string,
  id: readonly KeyPart[],
  row: unknown,
): Change {
  return { op: "put", key: rowKey(partition, table, id), value: row };
}

/** Returns the change that removes a row of a table. */
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
