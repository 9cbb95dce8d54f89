import { rowSpace } from "./keys.js";
import type { Slice, Walk } from "./migrations.js";
import type { Change, Key, KeyPart, Reading } from "./store.js";

/** In which partitions, and how many entries a slice has at most; see {@link Walk}. */
export type WalkOptions = Pick<Walk, "of" | "most">;

/** Where a row lies. */
export interface RowPlace {
  readonly partition: string;
  /** What comes in its key after the table's name. */
  readonly id: readonly KeyPart[];
  /** The store as it is before the slice. */
  readonly reading: Reading;
}

/**
 * Walks the rows of a table; `changes` is pure, and leaves rows alone that it brought up to date before. The row is
 * taken to be a `Row`: a step has types of its own for rows as they were, and names tables by their text, since what the
 * areas declare today may be declared otherwise tomorrow.
 */
export function eachRow<Row>(
  table: string,
  changes: (row: Row, place: RowPlace) => readonly Change[],
  options: WalkOptions = {},
): Walk {
  return {
    ...options,
    under: [rowSpace, table],
    changes: ({ partition, entries, reading }: Slice) =>
      entries.flatMap(({ key, value }) => changes(value as Row, { partition, id: key.slice(3), reading })),
  };
}

/** Removes all rows of a table. */
export function removeTable(table: string, options: WalkOptions = {}): Walk {
  const changes = ({ entries }: Slice) => entries.map(({ key }): Change => ({ op: "remove", key }));
  return { ...options, under: [rowSpace, table], changes };
}

/** Writes a row of a table into the partition of `place`. */
export function putRow(
  { partition }: Pick<RowPlace, "partition">,
  table: string,
  id: readonly KeyPart[],
  row: unknown,
): Change {
  return { op: "put", key: rowKey(partition, table, id), value: row };
}

/** Removes a row of a table from the partition of `place`. */
export function removeRow({ partition }: Pick<RowPlace, "partition">, table: string, id: readonly KeyPart[]): Change {
  return { op: "remove", key: rowKey(partition, table, id) };
}

function rowKey(partition: string, table: string, id: readonly KeyPart[]): Key {
  return [partition, rowSpace, table, ...id];
}
