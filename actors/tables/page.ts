/**
 * Pages of a table, newest first, read in slices: a slice is a synchronous function of a reading and of where the one
 * before it stopped, and reads at most {@link LOOKS_A_SLICE} rows, so that other work can run between the slices of a
 * page.
 *
 * 1. A page ends when it has what was asked for, or when there is no more: it is never short while more fits.
 * 2. The slices of a page are read from one view; from another state of the rows they would not fit together.
 */
import { compareKeys } from "../../storage/key-order.js";
import { rowSpace } from "../../storage/keys.js";
import type { Key, KeyPart, Range, Reading } from "../../storage/store.js";
import { partOf } from "./declared-index.js";
import type { PagePlan } from "./page-plan.js";

/** Rows read in one slice: about a millisecond of work. */
export const LOOKS_A_SLICE = 250;
/** Rows of a line read at once: with one line alone, and with others beside it. */
const LONGEST_READ = 64;
const SHORT_READ = 10;
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
interface Line<Row> {
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

/** A line within a slice. */
interface OpenLine<Row> extends Line<Row> {
  readonly ahead: Ahead<Row>[];
}

/** Reads on from `cursor`, or from the page's beginning. */
export function sliceOf<Row extends object>(
  reading: Reading,
  source: PageSource<Row>,
  cursor: Cursor<Row> | null,
): Slice<Row> {
  return new SliceReader(reading, source, cursor ?? beginning(source)).read();
}

function beginning<Row>({ plan }: PageSource<Row>): Cursor<Row> {
  if (plan.line.length > 0) return { found: 0, lastLine: plan.under, lines: [] };
  return { found: 0, lastLine: null, lines: [{ under: plan.under, ahead: [], before: [] }] };
}

/** One slice under way. */
class SliceReader<Row extends object> {
  readonly #reading: Reading;
  readonly #source: PageSource<Row>;
  /** Where the order begins in a key of the index. */
  readonly #order: number;
  #lastLine: Key | null;
  /** Lines of which nothing is ahead yet. */
  readonly #unread: OpenLine<Row>[] = [];
  /** The others, the one with the newest row last. */
  readonly #ready: OpenLine<Row>[] = [];
  readonly #rows: Row[] = [];
  #left = LOOKS_A_SLICE;
  #wanted: number;
  readonly #found: number;

  constructor(reading: Reading, source: PageSource<Row>, cursor: Cursor<Row>) {
    this.#reading = reading;
    this.#source = source;
    this.#order = ROWS_BEGIN + source.plan.index.by.length;
    this.#lastLine = cursor.lastLine;
    this.#found = cursor.found;
    this.#wanted = (source.page.limit ?? Number.POSITIVE_INFINITY) - cursor.found;
    for (const line of cursor.lines) this.#keep({ ...line, ahead: [...line.ahead] });
  }

  read(): Slice<Row> {
    while (this.#lastLine !== null && this.#left > 0) this.#findLine(this.#lastLine);
    while (this.#lastLine === null && this.#unread.length > 0 && this.#left > 0) this.#readOn();
    while (this.#isMerging() && this.#left > 0) this.#take();
    const isOver = this.#wanted <= 0 || (this.#lastLine === null && this.#unread.length + this.#ready.length === 0);
    const lines = [...this.#ready, ...this.#unread];
    const found = this.#found + this.#rows.length;
    return { rows: this.#rows, next: isOver ? null : { found, lastLine: this.#lastLine, lines } };
  }

  /** Whether the newest row of all lines is known, and wanted. */
  #isMerging(): boolean {
    return this.#lastLine === null && this.#unread.length === 0 && this.#ready.length > 0 && this.#wanted > 0;
  }

  #findLine(last: Key): void {
    const { plan } = this.#source;
    const after = last.length > plan.under.length ? { after: this.#key(last) } : {};
    const [next] = this.#range({ prefix: this.#key(plan.under), limit: 1, ...after });
    if (next === undefined) {
      this.#lastLine = null;
      return;
    }
    const under = next.key.slice(ROWS_BEGIN, this.#order);
    this.#lastLine = under;
    if (plan.line.every((part, index) => part === undefined || part === under[plan.under.length + index])) {
      this.#unread.push({ under, ahead: [], before: [] });
    }
  }

  /** Reads the next rows of a line. */
  #readOn(): void {
    const line = this.#unread.pop();
    if (line === undefined || line.before === null) return;
    const limit = this.#readLength();
    const { before = [], after } = this.#source.page;
    const from = line.before.length > 0 ? line.before : before;
    const ahead = this.#range({
      ...{ prefix: this.#key(line.under), reverse: true, limit },
      before: from.length > 0 ? this.#key([...line.under, ...from]) : undefined,
      after: after === undefined ? undefined : this.#key([...line.under, ...after]),
    });
    const last = ahead.at(-1);
    ahead.reverse();
    this.#keep({ ...line, ahead, before: ahead.length < limit || last === undefined ? null : this.#placeOf(last) });
  }

  #readLength(): number {
    if (this.#ready.length + this.#unread.length > 0) return SHORT_READ;
    const { plan, page } = this.#source;
    const areWanted = plan.rest.length === 0 && page.fits === undefined;
    return Math.max(1, areWanted ? Math.min(this.#wanted, LONGEST_READ) : LONGEST_READ);
  }

  /** Takes the newest row of all lines. */
  #take(): void {
    const line = this.#ready.pop();
    const newest = line?.ahead.pop();
    if (line === undefined || newest === undefined) return;
    const row = this.#fitting(newest);
    if (row !== undefined) {
      this.#rows.push(row);
      this.#wanted -= 1;
    }
    this.#keep(line);
    while (this.#unread.length > 0 && this.#wanted > 0) this.#readOn();
  }

  #fitting(ahead: Ahead<Row>): Row | undefined {
    const { page } = this.#source;
    const row = ahead.row ?? this.#lookUp(ahead.key);
    if (row === undefined || !this.#hasRest(row)) return undefined;
    return page.fits === undefined || page.fits(row) ? row : undefined;
  }

  #hasRest(row: Row): boolean {
    const { plan, listed } = this.#source;
    if (plan.rest.length === 0) return true;
    const fields = listed(row);
    return plan.rest.every(([field, value]) => partOf(fields, field) === value);
  }

  #lookUp(key: Key): Row | undefined {
    this.#left -= 1;
    return this.#source.lookUp(this.#reading, key);
  }

  /** Puts a line where it belongs; one without rows nowhere. */
  #keep(line: OpenLine<Row>): void {
    const newest = line.ahead.at(-1);
    if (newest === undefined) {
      if (line.before !== null) this.#unread.push(line);
      return;
    }
    const place = this.#placeOf(newest);
    let low = 0;
    let high = this.#ready.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#ready[middle]?.ahead.at(-1);
      if (other !== undefined && compareKeys(this.#placeOf(other), place) < 0) low = middle + 1;
      else high = middle;
    }
    this.#ready.splice(low, 0, line);
  }

  #placeOf({ key }: Ahead<Row>): Key {
    return key.slice(this.#order);
  }

  #key(parts: readonly KeyPart[]): Key {
    return [this.#source.partition, rowSpace, this.#source.plan.index.name, ...parts];
  }

  #range(range: Range): Ahead<Row>[] {
    const entries = this.#source.range(this.#reading, range);
    this.#left -= Math.max(1, entries.length);
    return entries;
  }
}
