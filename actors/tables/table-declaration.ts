import type { Entry, Key, KeyPart, Range, Reading } from "../../storage/store.js";
import type { Table } from "../../storage/table.js";
import type { Field, IndexDeclaration, OrderField } from "./declared-index.js";

/** The declaration of a table. `Listed` holds the row's values that keys, indexes and stream entries use. */
export interface Declared<Row, Listed> {
  /** The fields of a row's key before those of `order`; none by default. */
  readonly under?: readonly Field<Listed>[];
  /** The fields that order rows. Every key ends with them. Together with `under` they identify a row. */
  readonly order: readonly OrderField<Listed>[];
  /** Indexes by the name of their entries. Each index must contain the fields of `under`. */
  readonly indexes?: Readonly<Record<string, readonly Field<Listed>[] | IndexDeclaration<Listed>>>;
  /** Rows of other tables, written with the row. */
  readonly derived?: readonly DerivedRows<Listed>[];
  /** The stored form of a row; unchanged by default. */
  readonly stored?: StoredForm<Row>;
}

/** The declaration of a table whose indexes use values computed from a row. */
export interface Listing<Row, Listed> extends Declared<Row, Listed> {
  readonly listed: (row: Row) => Listed;
}

/** Rows of another table that are derived from a row and from `reading`. */
export interface DerivedRows<Listed> {
  /** The table of the derived rows, if they depend only on the row and not on `reading`. */
  readonly table?: string;
  /** Returns whether two versions of a row have the same derived rows. If so, the derived rows are not computed. */
  isSame?(before: Listed, after: Listed): boolean;
  listRows(reading: Reading, partition: string, row: Listed): readonly Entry[];
}

/** Derives rows of `table` from a row. `rows` returns the id and the value of each. */
export function derivedRows<Listed, Value>(
  table: Table<Value>,
  rows: (row: Listed, reading: Reading) => readonly (readonly [id: readonly KeyPart[], value: Value])[],
): DerivedRows<Listed> {
  return {
    table: table.name,
    listRows: (reading, partition, row) =>
      rows(row, reading).map(([id, value]) => ({ key: table.key(partition, ...id), value })),
  };
}

/** Converts rows to and from their stored form. */
export interface StoredForm<Row> {
  toStored(row: Row): unknown;
  get(reading: Reading, key: Key): Row | undefined;
  range(reading: Reading, range: Range): Entry<Row>[];
}

/**
 * Creates a stored form from two functions. The stored form may omit values of the key, or have parts in other rows.
 */
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
