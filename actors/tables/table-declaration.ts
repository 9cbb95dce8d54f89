import type { Entry, Key, KeyPart, Range, Reading } from "../../storage/store.js";
import type { Table } from "../../storage/table.js";
import type { Field, IndexDeclaration, OrderField } from "./declared-index.js";

/** What a table is declared by. `Listed` is what keys, indexes and what follows look at of a row. */
export interface Declared<Row, Listed> {
  /** The first fields of a row's key, if there are any before those of its order. */
  readonly under?: readonly Field<Listed>[];
  /** The fields that rows are ordered by: the end of every key, unique with what stands before it. */
  readonly order: readonly OrderField<Listed>[];
  /** Indexes by the name of their rows; each has the fields of `under` among its own. */
  readonly indexes?: Readonly<Record<string, readonly Field<Listed>[] | IndexDeclaration<Listed>>>;
  /** Rows beside it that pages are not read from. */
  readonly beside?: readonly Beside<Listed>[];
  /** How a row is stored; as it is when nothing is said. */
  readonly stored?: StoredForm<Row>;
}

/** A table of rows that are found by what is made of them. */
export interface Listing<Row, Listed> extends Declared<Row, Listed> {
  readonly listed: (row: Row) => Listed;
}

/** Rows that follow from a row: any number of them, by what may be read beside it. */
export interface Beside<Listed> {
  rowsOf(reading: Reading, partition: string, row: Listed): readonly Entry[];
}

/** Rows of `table` that follow from a row: their ids and what they hold. */
export function beside<Listed, Value>(
  table: Table<Value>,
  rows: (row: Listed, reading: Reading) => readonly (readonly [id: readonly KeyPart[], value: Value])[],
): Beside<Listed> {
  return {
    rowsOf: (reading, partition, row) =>
      rows(row, reading).map(([id, value]) => ({ key: table.key(partition, ...id), value })),
  };
}

/** How rows are stored. */
export interface StoredForm<Row> {
  toStored(row: Row): unknown;
  get(reading: Reading, key: Key): Row | undefined;
  range(reading: Reading, range: Range): Entry<Row>[];
}

/** Rows whose stored form leaves out what stands in their key, or has parts elsewhere. */
export function storedAs<Row, Stored>(
  toStored: (row: Row) => Stored,
  toRow: (stored: Stored, key: Key, reading: Reading) => Row,
): StoredForm<Row> {
  return {
    toStored,
    get: (reading, key) => {
      const stored = reading.get<Stored>(key);
      return stored === undefined ? undefined : toRow(stored, key, reading);
    },
    range: (reading, range) =>
      reading.range<Stored>(range).map(({ key, value }) => ({ key, value: toRow(value, key, reading) })),
  };
}
