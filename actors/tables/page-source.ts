import { rowSpace } from "../../storage/keys.js";
import type { Key, KeyPart, Range, Reading } from "../../storage/store.js";
import { partOf, type StoredIndex } from "./declared-index.js";
import type { PagePlan } from "./page-plan.js";

/** What a page is read from, and how much of it one slice may read. */

/** Rows read in one slice, in the time of looking up one: about a millisecond of work. */
export const LOOKS_A_SLICE = 250;
/** What it costs to begin a range, in rows looked up. */
const RANGE_LOOKS = 4;
/** Parts of a key before those of a row. */
export const ROWS_BEGIN = 3;

export interface PageOf<Row> {
  /** Only rows before this place: the values of the fields that rows are ordered by, or of the first of them. */
  readonly before?: Key | undefined;
  /** Only rows after this place. */
  readonly after?: Key | undefined;
  /** How many rows at most; all that there are when it is not given. */
  readonly limit?: number | undefined;
  /** A further condition on rows. */
  readonly fits?: ((row: Row) => boolean) | undefined;
}

/** A part of a page. */
export interface Slice<Row> {
  readonly rows: readonly Row[];
  /** Where the page continues; null at its end. */
  readonly next: Cursor<Row> | null;
}

/** Where a page stopped: what is known of the lines that it is merged from. Plain data. */
export interface Cursor<Row> {
  /** Rows found so far. */
  readonly found: number;
  /** The line after which others are looked for; null once all are known. */
  readonly lastLine: Key | null;
  readonly lines: readonly Line<Row>[];
}

/** Rows of an index that begin alike. */
export interface Line<Row> {
  /** How they begin. */
  readonly under: Key;
  /** The next ones, newest last. */
  readonly ahead: readonly Ahead<Row>[];
  /** The place before which others may stand; null once all are ahead. */
  readonly before: Key | null;
}

/** A row of an index. */
export interface Ahead<Row> {
  readonly key: Key;
  /** The row that it holds; undefined when it is to be looked up. */
  readonly row: Row | undefined;
}

/** What a page is read from. */
export interface PageSource<Row> {
  readonly partition: string;
  readonly plan: PagePlan;
  readonly page: PageOf<Row>;
  /** The fields of a row. */
  readonly listed: (row: Row) => object;
  readonly range: (reading: Reading, range: Range) => Ahead<Row>[];
  /** The row that a key of the index stands for; undefined when it is not there. */
  readonly lookUp: (reading: Reading, key: Key) => Row | undefined;
}

/** What one slice reads: every read of it is counted. */
export class SliceReading<Row extends object> {
  #left = LOOKS_A_SLICE;
  readonly #reading: Reading;
  readonly #source: PageSource<Row>;

  constructor(reading: Reading, source: PageSource<Row>) {
    this.#reading = reading;
    this.#source = source;
  }

  /** Whether the slice is over: the rest is the next one's. */
  get isOver(): boolean {
    return this.#left <= 0;
  }

  key(index: StoredIndex, parts: readonly KeyPart[]): Key {
    return [this.#source.partition, rowSpace, index.name, ...parts];
  }

  /** Whether there is such a key. */
  has(key: Key): boolean {
    this.#left -= 1;
    return this.#reading.get(key) !== undefined;
  }

  /** Keys of any index. */
  keys(range: Range): Key[] {
    return this.#counted(this.#reading.range(range)).map(({ key }) => key);
  }

  /** Rows of the plan's index. */
  range(range: Range): Ahead<Row>[] {
    return this.#counted(this.#source.range(this.#reading, range));
  }

  /** The row, where it is there and has what the indexes do not tell. */
  fitting({ key, row: held }: Ahead<Row>): Row | undefined {
    const { page, lookUp } = this.#source;
    if (held === undefined) this.#left -= 1;
    const row = held ?? lookUp(this.#reading, key);
    if (row === undefined || !this.#hasRest(row)) return undefined;
    return page.fits === undefined || page.fits(row) ? row : undefined;
  }

  #hasRest(row: Row): boolean {
    const { plan, listed } = this.#source;
    if (plan.rest.length === 0) return true;
    const fields = listed(row);
    return plan.rest.every(([field, value]) => partOf(fields, field) === value);
  }

  #counted<Entries extends readonly unknown[]>(entries: Entries): Entries {
    this.#left -= RANGE_LOOKS + entries.length;
    return entries;
  }
}
