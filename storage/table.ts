import { rowSpace } from "./keys.js";
import type { Change, Entry, Key, KeyPart, Range, Reading, Writing } from "./store.js";

/**
 * Rows of one type, under keys `[partition, "row", name, ...id]`. A table only builds typed keys. It has no state, and
 * uses the given reading or writing.
 */
export interface Table<Row> {
  readonly name: string;
  key(partition: string, ...id: KeyPart[]): Key;
  get(reading: Reading, partition: string, ...id: KeyPart[]): Row | undefined;
  /** Lists rows whose id starts with `under`, in key order. `after` and `before` are ids (exclusive). */
  list(reading: Reading, partition: string, under?: readonly KeyPart[], page?: TablePage): Row[];
  /** Like {@link list}, but returns each row with its key. */
  entries(reading: Reading, partition: string, under?: readonly KeyPart[], page?: TablePage): Entry<Row>[];
  put(writing: Writing, partition: string, id: KeyPart | readonly KeyPart[], row: Row): void;
  remove(writing: Writing, partition: string, ...id: KeyPart[]): void;
  /** Returns the row after a change of this table; undefined if the change removes the row. */
  toRow(change: Change): Row | undefined;
}

export interface TablePage {
  readonly after?: readonly KeyPart[];
  readonly before?: readonly KeyPart[];
  readonly limit?: number;
  readonly reverse?: boolean;
}

/** Declares the table `name`, which must be unique in the project. */
export function table<Row>(name: string): Table<Row> {
  const toKey = (partition: string, id: readonly KeyPart[]): Key => {
    // Avoid a spread for common lengths, because this runs for every row that is read or written.
    const [first, second, third] = id;
    if (id.length === 1 && first !== undefined) return [partition, rowSpace, name, first];
    if (id.length === 2 && first !== undefined && second !== undefined)
      return [partition, rowSpace, name, first, second];
    if (id.length === 3 && first !== undefined && second !== undefined && third !== undefined)
      return [partition, rowSpace, name, first, second, third];
    return [partition, rowSpace, name, ...id];
  };
  const bound = (partition: string, id: readonly KeyPart[] | undefined) => id && toKey(partition, id);
  const toRange = (partition: string, under: readonly KeyPart[], page: TablePage | undefined): Range => {
    const prefix = toKey(partition, under);
    if (page === undefined) return { prefix };
    const { after, before, limit, reverse } = page;
    return { prefix, after: bound(partition, after), before: bound(partition, before), limit, reverse };
  };
  return {
    name,
    key: (partition, ...id) => toKey(partition, id),
    get: (reading, partition, ...id) => reading.get<Row>(toKey(partition, id)),
    list: (reading, partition, under = [], page) =>
      reading.range<Row>(toRange(partition, under, page)).map((entry) => entry.value),
    entries: (reading, partition, under = [], page) => reading.range<Row>(toRange(partition, under, page)),
    put: (writing, partition, id, row) => writing.put(toKey(partition, typeof id === "object" ? id : [id]), row),
    remove: (writing, partition, ...id) => writing.remove(toKey(partition, id)),
    toRow: (change) => (change.op === "put" ? (change.value as Row) : undefined),
  };
}
