import { rowSpace } from "../../storage/keys.js";
import type { Key, KeyPart, Range, Reading } from "../../storage/store.js";
import { getPart, type StoredIndex } from "./declared-index.js";
import type { PagePlan } from "./page-plan.js";

/** The source of a page, and the limit of reads in one slice. */

/**
 * Maximum cost of a slice, in row look-ups. This cost takes about a tenth of a millisecond. Shorter slices would need
 * more time in total.
 */
export const MAX_SLICE_COST = 14;
/** Cost of starting to read a range, in row look-ups. The next constant is the cost of each entry of the range. */
const RANGE_COST = 4;
const ENTRY_COST = 1 / 3;
/** Number of key parts before the row's id. */
export const ROWS_BEGIN = 3;

export interface PageOptions<Row> {
  /** Only rows before this position. A position has the values of the order fields, or of the first of these fields. */
  readonly before?: Key | undefined;
  /** Only rows after this position. */
  readonly after?: Key | undefined;
  /** Maximum number of rows; all by default. */
  readonly limit?: number | undefined;
  /** An additional condition on rows. */
  readonly fits?: ((row: Row) => boolean) | undefined;
}

/** A part of a page. */
export interface Slice<Row> {
  readonly rows: readonly Row[];
  /** The position where the page continues; null at the end of the page. */
  readonly next: Cursor<Row> | null;
}

/** The position at the end of a slice, with the state of the merged lines. Plain data. */
export interface Cursor<Row> {
  /** Number of rows of the page that earlier slices found. */
  readonly found: number;
  /** The last line found; null after all lines are known. */
  readonly lastLine: Key | null;
  readonly lines: readonly Line<Row>[];
  /**
   * Number of rows read without a match (`common-rows.ts`), if the page is the common rows of several lines; otherwise
   * 0.
   */
  readonly misses: number;
}

/** The entries of an index with the same values in all of its fields, in order. */
export interface Line<Row> {
  /** The values of the index's fields. */
  readonly under: Key;
  /** The next entries of the line, newest last. */
  readonly ahead: readonly Ahead<Row>[];
  /**
   * The position before which the line continues. Empty at the start of the line. Null if `ahead` holds all remaining
   * entries.
   */
  readonly before: Key | null;
}

/** An entry of an index. */
export interface Ahead<Row> {
  readonly key: Key;
  /** The row if the index holds rows; undefined if it must be looked up. */
  readonly row: Row | undefined;
}

/** The source of a page. */
export interface PageSource<Row> {
  readonly partition: string;
  readonly plan: PagePlan;
  readonly page: PageOptions<Row>;
  /** Computes a row's indexed values. */
  readonly listed: (row: Row) => object;
  readonly range: (reading: Reading, range: Range) => Ahead<Row>[];
  /** Finds the row of an index key. */
  readonly lookUp: (reading: Reading, key: Key) => Row | undefined;
}

/** Reads one slice and counts its cost. */
export class SliceReading<Row extends object> {
  #left = MAX_SLICE_COST;
  readonly #reading: Reading;
  readonly #source: PageSource<Row>;

  constructor(reading: Reading, source: PageSource<Row>) {
    this.#reading = reading;
    this.#source = source;
  }

  /** Whether the slice has reached its cost limit. */
  get isOver(): boolean {
    return this.#left <= 0;
  }

  key(index: StoredIndex, parts: readonly KeyPart[]): Key {
    return [this.#source.partition, rowSpace, index.name, ...parts];
  }

  /** Whether the key exists. */
  has(key: Key): boolean {
    this.#left -= 1;
    return this.#reading.get(key) !== undefined;
  }

  /** Returns the keys of a range of any index. */
  keys(range: Range): Key[] {
    return this.#counted(this.#reading.range(range)).map(({ key }) => key);
  }

  /** Returns the entries of a range of the plan's index. */
  range(range: Range): Ahead<Row>[] {
    return this.#counted(this.#source.range(this.#reading, range));
  }

  /**
   * Returns the row of an entry if it meets the page's remaining conditions: those that the indexes do not cover, and
   * `fits`. Otherwise returns undefined.
   */
  fitting({ key, row: known }: Ahead<Row>): Row | undefined {
    const { page, lookUp } = this.#source;
    if (known === undefined) this.#left -= 1;
    const row = known ?? lookUp(this.#reading, key);
    if (row === undefined || !this.#hasRest(row)) return undefined;
    return page.fits === undefined || page.fits(row) ? row : undefined;
  }

  #hasRest(row: Row): boolean {
    const { plan, listed } = this.#source;
    if (plan.rest.length === 0) return true;
    const fields = listed(row);
    return plan.rest.every(([field, value]) => getPart(fields, field) === value);
  }

  #counted<Entries extends readonly unknown[]>(entries: Entries): Entries {
    this.#left -= RANGE_COST + ENTRY_COST * entries.length;
    return entries;
  }
}
