/**
 * A table with declared indexes. Rows that have indexes are written only through this class. It has no state of its
 * own.
 *
 * 1. A row and its index entries are written together. Unchanged index entries are not written.
 * 2. The caller passes the previous row. The class does not read this row.
 */
import { isDeepStrictEqual } from "node:util";
import { expected } from "../../storage/expected.js";
import { rowSpace } from "../../storage/keys.js";
import type { Entry, Key, KeyPart, Reading, Writing } from "../../storage/store.js";
import type { TablePage } from "../../storage/table.js";
import type { CountingWriting } from "./blobs.js";
import { type Filter, isSameKey, keyIn, type StoredIndex, storedIndex } from "./declared-index.js";
import {
  countOnWrite,
  nothingOnWrite,
  type OnWrite,
  type PublishedRows,
  type PublishingWriting,
  publishOnWrite,
  type RowsWithBlobs,
} from "./on-write.js";
import { readSlice } from "./page.js";
import { type PagePlan, planPage } from "./page-plan.js";
import { type Cursor, type PageOptions, type PageSource, ROWS_BEGIN, type Slice } from "./page-source.js";
import { type Declared, type DerivedRows, type Listing, type StoredForm, storedAs } from "./table-declaration.js";

/**
 * Declares a table. `name` is unique in the project. If the table declares stream entries (`changes`) or references to
 * bodies (`blobs`), only a turn can write its rows.
 */
export function indexedTable<Row extends object>(
  name: string,
  declared: Declared<Row, Row> & RowsWithBlobs<Row> & Partial<PublishedRows<Row>>,
): IndexedTable<Row, Row, PublishingWriting & CountingWriting>;
export function indexedTable<Row extends object>(
  name: string,
  declared: Declared<Row, Row> & PublishedRows<Row>,
): IndexedTable<Row, Row, PublishingWriting>;
export function indexedTable<Row extends object>(
  name: string,
  declared: Declared<Row, Row>,
): IndexedTable<Row, Row, Writing>;
export function indexedTable<Row extends object>(
  name: string,
  declared: Declared<Row, Row> & Partial<RowsWithBlobs<Row> & PublishedRows<Row>>,
): IndexedTable<Row, Row, PublishingWriting & CountingWriting> {
  const { blobs, changes } = declared;
  const onWrite =
    blobs !== undefined
      ? countOnWrite({ ...declared, blobs })
      : changes === undefined
        ? nothingOnWrite
        : publishOnWrite({ changes });
  return new IndexedTable<Row, Row, PublishingWriting & CountingWriting>(
    name,
    { ...declared, listed: asItIs },
    onWrite,
  );
}

/** Like {@link indexedTable}, for rows whose indexes and stream entries use values that `listed` computes. */
export function listedTable<Row extends object, Listed extends object>(
  name: string,
  declared: Listing<Row, Listed> & PublishedRows<Listed>,
): IndexedTable<Row, Listed, PublishingWriting> {
  return new IndexedTable(name, declared, publishOnWrite(declared));
}

/**
 * A table that {@link indexedTable} or {@link listedTable} declares. `Into` is the type of the writer that its writes
 * need.
 */
export class IndexedTable<Row extends object, Listed extends object, Into extends Writing> {
  readonly name: string;
  /** The index that contains every row: the rows themselves. */
  readonly #primary: StoredIndex;
  readonly #others: readonly StoredIndex[];
  readonly #derived: readonly DerivedRows<Listed>[];
  readonly #form: StoredForm<Row>;
  readonly #listed: (row: Row) => Listed;
  readonly #onWrite: OnWrite<Listed, Into>;

  constructor(name: string, declared: Listing<Row, Listed>, onWrite: OnWrite<Listed, Into>) {
    const { under = [], order, indexes = {}, derived = [], stored = storedAs<Row, Row>(asItIs, asItIs) } = declared;
    this.name = name;
    this.#primary = storedIndex(name, { by: under, holdsRow: true }, order);
    this.#others = Object.entries(indexes).map(([index, declaration]) =>
      storedIndex(index, "by" in declaration ? declaration : { by: declaration }, order),
    );
    this.#derived = derived;
    this.#form = stored;
    this.#listed = declared.listed;
    this.#onWrite = onWrite;
    for (const index of this.#others) {
      if (!under.every((field) => index.by.includes(field))) throw new Error(`${index.name} does not lead to its rows`);
    }
  }

  key(partition: string, ...id: KeyPart[]): Key {
    return [partition, rowSpace, this.name, ...id];
  }

  /** Returns the row with this key; undefined if there is none. */
  get(reading: Reading, partition: string, ...id: KeyPart[]): Row | undefined {
    return this.#form.get(reading, this.key(partition, ...id));
  }

  /** Lists rows whose key starts with `under`, in key order. */
  list(reading: Reading, partition: string, under: readonly KeyPart[] = [], page: TablePage = {}): Row[] {
    return this.entries(reading, partition, under, page).map(({ value }) => value);
  }

  /** Like `list`, with the keys. */
  entries(reading: Reading, partition: string, under: readonly KeyPart[] = [], page: TablePage = {}): Entry<Row>[] {
    const toKey = (id: readonly KeyPart[]): Key => this.key(partition, ...id);
    const { after, before, limit, reverse } = page;
    const bounds = { after: after && toKey(after), before: before && toKey(before) };
    return this.#form.range(reading, { prefix: toKey(under), ...bounds, limit, reverse });
  }

  /** Writes a row with a new key. */
  insert(into: Into, partition: string, row: Row): void {
    this.put(into, partition, null, row);
  }

  /**
   * Writes a row. `before` is the stored row that `row` replaces; null for a new row. Throws if both rows have
   * different keys.
   */
  put(into: Into, partition: string, before: Row | null, row: Row): void {
    const listed = this.#listed(row);
    const was = before === null ? null : this.#listed(before);
    const key = this.#write(into, partition, was, { listed, stored: this.#form.toStored(row) });
    this.#writeIndexes(into, key, was, listed);
  }

  /**
   * Updates the index entries and derived rows of a row, without writing the row itself. For a row whose stored form
   * does not change.
   */
  relist(into: Into, partition: string, before: Listed, after: Listed): void {
    if (this.#others.some(({ holdsRow }) => holdsRow)) throw new Error(`an index of ${this.name} holds its rows`);
    this.#writeIndexes(into, toKey(this.#primary, partition, after), before, after);
  }

  /** Removes a row; `before` is the stored row. */
  remove(into: Into, partition: string, before: Row): void {
    const listed = this.#listed(before);
    const derived = listDerivedRows(this.#derived, into, { partition, row: listed }).flat();
    for (const index of [this.#primary, ...this.#others]) {
      const key = keyIn(index, partition, listed);
      if (key !== null) into.remove(key);
    }
    for (const { key } of derived) into.remove(key);
    this.#onWrite.write(into, toKey(this.#primary, partition, listed), { row: null, before: listed });
  }

  /**
   * Reads a slice of a page (`page.ts`): the rows that match the filter, in reverse order. Uses the best index for the
   * filter, and checks the remaining conditions in the rows.
   */
  page(
    reading: Reading,
    partition: string,
    filter: Filter<Listed>,
    { cursor = null, ...page }: PageOptions<Row> & { readonly cursor?: Cursor<Row> | null },
  ): Slice<Row> {
    const plan = planPage([this.#primary, ...this.#others], filter);
    return readSlice(reading, this.#toSource(partition, plan, page), cursor);
  }

  /** Reads all slices of a page at once. Use it in turns, or for few rows. */
  all(reading: Reading, partition: string, filter: Filter<Listed>, page: PageOptions<Row> = {}): Row[] {
    const rows: Row[] = [];
    let slice = this.page(reading, partition, filter, page);
    rows.push(...slice.rows);
    while (slice.next !== null) {
      slice = this.page(reading, partition, filter, { ...page, cursor: slice.next });
      rows.push(...slice.rows);
    }
    return rows;
  }

  /**
   * Returns a function that lists rows by values of the index's first fields, in index order. The function avoids the
   * overhead of a page. Use it in turns that look for few rows and usually find none.
   */
  under(index: string): (reading: Reading, partition: string, ...values: KeyPart[]) => Row[] {
    const lookUp = this.#toLookUp(this.#getIndex(index));
    return (reading, partition, ...values) =>
      reading
        .range({ prefix: [partition, rowSpace, index, ...values] })
        .map(({ key }) => lookUp(reading, partition, key));
  }

  /**
   * Returns a function that reads the row of one index entry. `key` has the values of the index's fields, followed by
   * those of the table's `order` fields. The function returns undefined if there is no such entry. It throws `damaged`
   * if the entry has no row.
   */
  listed(index: string): (reading: Reading, partition: string, ...key: KeyPart[]) => Row | undefined {
    const lookUp = this.#toLookUp(this.#getIndex(index));
    return (reading, partition, ...parts) => {
      const key: Key = [partition, rowSpace, index, ...parts];
      return reading.get(key) === undefined ? undefined : lookUp(reading, partition, key);
    };
  }

  /** Whether the table declares references to bodies. */
  get hasBodies(): boolean {
    return this.#onWrite.hasBodies;
  }

  /** Yields, for each row, the digests of the bodies that the row refers to. */
  *referrals(reading: Reading, partition: string): Generator<readonly string[]> {
    for (const row of this.rows(reading, partition)) yield this.#onWrite.listBlobs(this.#listed(row));
  }

  /**
   * The names of the tables whose entries depend only on the rows: the indexes, and the derived rows that declare their
   * `table`.
   */
  get dependentTables(): readonly string[] {
    const derived = this.#derived.flatMap(({ table }) => (table === undefined ? [] : [table]));
    return [...this.#others.map(({ name }) => name), ...derived];
  }

  /** Yields the entries of {@link dependentTables} that should exist. */
  *dependents(reading: Reading, partition: string): Generator<Entry> {
    for (const row of this.rows(reading, partition)) yield* this.listDependents(reading, partition, row);
  }

  /** Lists the entries of {@link dependentTables} that a row should have. */
  listDependents(reading: Reading, partition: string, row: Row): Entry[] {
    const listed = this.#listed(row);
    const stored = this.#form.toStored(row);
    const indexed = this.#others.flatMap((index): Entry[] => {
      const key = keyIn(index, partition, listed);
      return key === null ? [] : [{ key, value: index.holdsRow ? stored : true }];
    });
    const derived = this.#derived.filter(({ table }) => table !== undefined);
    return [...indexed, ...derived.flatMap((each) => each.listRows(reading, partition, listed))];
  }

  /** Yields all rows in key order. */
  *rows(reading: Reading, partition: string): Generator<Row> {
    const prefix = [partition, rowSpace, this.name];
    for (let after: Key | undefined; ; ) {
      const entries: Entry<Row>[] = this.#form.range(reading, { prefix, after, limit: ROWS_AT_ONCE });
      for (const { value } of entries) yield value;
      after = entries.at(-1)?.key;
      if (entries.length < ROWS_AT_ONCE) return;
    }
  }

  #getIndex(index: string): StoredIndex {
    const found = this.#others.find(({ name }) => name === index);
    if (found === undefined) throw new Error(`${this.name} has no index ${index}`);
    return found;
  }

  #toSource(partition: string, plan: PagePlan, page: PageOptions<Row>): PageSource<Row> {
    const { index } = plan;
    const lookUp = this.#toLookUp(index);
    return {
      partition,
      plan,
      page,
      listed: this.#listed,
      range: (reading, range) =>
        index.holdsRow
          ? this.#form.range(reading, range).map(({ key, value }) => ({ key, row: value }))
          : reading.range(range).map(({ key }) => ({ key, row: undefined })),
      lookUp: (reading, key) => lookUp(reading, partition, key),
    };
  }

  /** Returns a function that finds the row of an index key. The function throws `damaged` if the row is missing. */
  #toLookUp({ by }: StoredIndex): (reading: Reading, partition: string, key: Key) => Row {
    const places = this.#primary.by.map((field) => ROWS_BEGIN + by.indexOf(field));
    const order = ROWS_BEGIN + by.length;
    return (reading, partition, key) => {
      const under = places.map((place) => key[place] ?? "");
      const id = [...under, ...key.slice(order)];
      return expected(this.get(reading, partition, ...id), this.key(partition, ...id));
    };
  }

  /** Writes the row with its copies in indexes. Returns the row's key. */
  #write(into: Into, partition: string, before: Listed | null, { listed, stored }: Written<Listed>): Key {
    const key = toKey(this.#primary, partition, listed);
    const was = before === null ? null : toKey(this.#primary, partition, before);
    if (was !== null && !isSameKey(was, key)) throw new Error(`a row of ${this.name} becomes another`);
    into.put(key, stored);
    for (const index of this.#others) {
      const indexKey = index.holdsRow ? keyIn(index, partition, listed) : null;
      if (indexKey !== null) into.put(indexKey, stored);
    }
    return key;
  }

  #writeIndexes(into: Into, key: Key, before: Listed | null, row: Listed): void {
    const partition = String(key[0]);
    const derived =
      before === null ? this.#derived : this.#derived.filter((each) => each.isSame?.(before, row) !== true);
    const derivedBefore = listDerivedRows(derived, into, { partition, row: before });
    for (const index of this.#others) {
      const was = before === null ? null : keyIn(index, partition, before);
      const is = keyIn(index, partition, row);
      const isSame = was !== null && is !== null && isSameKey(was, is);
      if (was !== null && !isSame) into.remove(was);
      if (is !== null && !isSame && !index.holdsRow) into.put(is, true);
    }
    for (const [index, each] of derived.entries()) {
      replaceRows(into, derivedBefore[index] ?? [], each.listRows(into, partition, row));
    }
    this.#onWrite.write(into, key, { row, before });
  }
}

/**
 * Computes the derived rows of a row. Call it before writing any derived row, because computing may read other derived
 * rows.
 */
function listDerivedRows<Listed>(
  derived: readonly DerivedRows<Listed>[],
  reading: Reading,
  { partition, row }: { readonly partition: string; readonly row: Listed | null },
): (readonly Entry[])[] {
  return row === null ? [] : derived.map((each) => each.listRows(reading, partition, row));
}

/** A row to write. */
interface Written<Listed> {
  readonly listed: Listed;
  readonly stored: unknown;
}

function replaceRows(writing: Writing, before: readonly Entry[], after: readonly Entry[]): void {
  if (before.length === 0) {
    for (const { key, value } of after) writing.put(key, value);
    return;
  }
  const was = new Map(before.map((entry) => [JSON.stringify(entry.key), entry]));
  const is = new Map(after.map((entry) => [JSON.stringify(entry.key), entry]));
  for (const [name, { key }] of was) if (!is.has(name)) writing.remove(key);
  for (const [name, { key, value }] of is) {
    const stood = was.get(name);
    if (stood === undefined || !isDeepStrictEqual(stood.value, value)) writing.put(key, value);
  }
}

/** Returns the key of a row in the primary index. */
function toKey(primary: StoredIndex, partition: string, row: object): Key {
  const key = keyIn(primary, partition, row);
  if (key === null) throw new Error(`a row that ${primary.name} does not hold`);
  return key;
}

/** Number of rows to read in one batch of a full scan. */
const ROWS_AT_ONCE = 100;

const asItIs = <Row>(row: Row): Row => row;
