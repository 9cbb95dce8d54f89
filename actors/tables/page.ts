/**
 * Pages of a table, newest first, read in slices. A slice is a synchronous function of a reading and the previous
 * slice's cursor. A slice costs about as much as `MAX_SLICE_COST` row look-ups (`page-source.ts`), so that other work
 * can run between slices.
 *
 * 1. A page ends at its limit or at the end of the table. A page is never shorter while more rows match.
 * 2. Read all slices of a page from one view. A cursor is not valid for another state of the rows.
 */
import { compareKeys } from "../../storage/key-order.js";
import type { Key, KeyPart, Reading } from "../../storage/store.js";
import { readCommonSlice } from "./common-rows.js";
import {
  type Ahead,
  type Cursor,
  type Line,
  type PageSource,
  ROWS_BEGIN,
  type Slice,
  SliceReading,
} from "./page-source.js";

/**
 * Maximum number of rows to read in one batch from a single line. The next constant is the maximum if there are several
 * lines.
 */
const LONGEST_READ = 32;
const SHORT_READ = 10;

/** A line within a slice. */
interface OpenLine<Row> extends Line<Row> {
  readonly ahead: Ahead<Row>[];
}

/** Reads the slice at `cursor`, or the first one. */
export function readSlice<Row extends object>(
  reading: Reading,
  source: PageSource<Row>,
  cursor: Cursor<Row> | null,
): Slice<Row> {
  if (source.plan.also.length > 0) return readCommonSlice(reading, source, cursor);
  return new SliceReader(reading, source, cursor ?? beginning(source)).read();
}

function beginning<Row>({ plan }: PageSource<Row>): Cursor<Row> {
  if (plan.line.length > 0) return { found: 0, lastLine: plan.under, lines: [], misses: 0 };
  return { found: 0, lastLine: null, lines: [{ under: plan.under, ahead: [], before: [] }], misses: 0 };
}

/** Reads one slice. */
class SliceReader<Row extends object> {
  readonly #reading: SliceReading<Row>;
  readonly #source: PageSource<Row>;
  /** Index of the first order field in a key of the index. */
  readonly #order: number;
  /** Number of the line's fields up to and including the last field that the filter does not set. */
  readonly #open: number;
  #lastLine: Key | null;
  /** Lines whose next rows are not read yet. */
  readonly #unread: OpenLine<Row>[] = [];
  /** The lines whose next rows are read, ordered by their next row, the newest last. */
  readonly #ready: OpenLine<Row>[] = [];
  readonly #rows: Row[] = [];
  #wanted: number;
  readonly #found: number;

  constructor(reading: Reading, source: PageSource<Row>, cursor: Cursor<Row>) {
    this.#reading = new SliceReading(reading, source);
    this.#source = source;
    this.#order = ROWS_BEGIN + source.plan.index.by.length;
    this.#open = source.plan.line.lastIndexOf(undefined) + 1;
    this.#lastLine = cursor.lastLine;
    this.#found = cursor.found;
    this.#wanted = (source.page.limit ?? Number.POSITIVE_INFINITY) - cursor.found;
    for (const line of cursor.lines) this.#keep({ ...line, ahead: [...line.ahead] });
  }

  read(): Slice<Row> {
    while (this.#lastLine !== null && !this.#reading.isOver) this.#findLine(this.#lastLine);
    while (this.#lastLine === null && this.#unread.length > 0 && !this.#reading.isOver) this.#readOn();
    while (this.#isMerging() && !this.#reading.isOver) this.#take();
    const isOver = this.#wanted <= 0 || (this.#lastLine === null && this.#unread.length + this.#ready.length === 0);
    const lines = [...this.#ready, ...this.#unread];
    const found = this.#found + this.#rows.length;
    return { rows: this.#rows, next: isOver ? null : { found, lastLine: this.#lastLine, lines, misses: 0 } };
  }

  /** Whether the newest row of all lines is known and still needed. */
  #isMerging(): boolean {
    return this.#lastLine === null && this.#unread.length === 0 && this.#ready.length > 0 && this.#wanted > 0;
  }

  /** Finds the next line, which sorts before `last`. May also read the newest rows of this line. */
  #findLine(last: Key): void {
    const { plan, page } = this.#source;
    const isRead = this.#open === plan.line.length && page.before === undefined && page.after === undefined;
    const limit = isRead ? SHORT_READ : 1;
    const before = last.length > plan.under.length ? this.#key(last) : undefined;
    const found = this.#reading.range({ prefix: this.#key(plan.under), reverse: true, limit, before });
    const newest = found[0]?.key;
    if (newest === undefined) {
      this.#lastLine = null;
      return;
    }
    const { length } = plan.under;
    const begins = newest.slice(ROWS_BEGIN, ROWS_BEGIN + length + this.#open);
    this.#lastLine = begins;
    const known = plan.line.slice(0, this.#open);
    if (!known.every((part, index) => part === undefined || part === begins[length + index])) return;
    const under = [...begins, ...plan.line.slice(this.#open).flatMap((part) => part ?? [])];
    if (!isRead) this.#unread.push({ under, ahead: [], before: [] });
    else {
      const own = found.filter(({ key }) => begins.every((part, index) => part === key[ROWS_BEGIN + index]));
      this.#addRead(under, own, limit);
    }
  }

  /** Reads the next rows of a line. */
  #readOn(): void {
    const line = this.#unread.pop();
    if (line === undefined || line.before === null) return;
    const limit = this.#readLength();
    const { before = [], after } = this.#source.page;
    const from = line.before.length > 0 ? line.before : before;
    const ahead = this.#reading.range({
      prefix: this.#key(line.under),
      reverse: true,
      limit,
      before: from.length > 0 ? this.#key([...line.under, ...from]) : undefined,
      after: after === undefined ? undefined : this.#key([...line.under, ...after]),
    });
    this.#addRead(line.under, ahead, limit);
  }

  /** Adds a line with its next rows, newest first. Fewer than `limit` rows mean that the line ends. */
  #addRead(under: Key, newestFirst: readonly Ahead<Row>[], limit: number): void {
    const last = newestFirst.at(-1);
    const before = newestFirst.length < limit || last === undefined ? null : this.#toPosition(last);
    this.#keep({ under, ahead: [...newestFirst].reverse(), before });
  }

  #readLength(): number {
    if (this.#ready.length + this.#unread.length > 0) return SHORT_READ;
    const { plan, page } = this.#source;
    const areWanted = plan.rest.length === 0 && page.fits === undefined;
    return Math.max(1, areWanted ? Math.min(this.#wanted, LONGEST_READ) : LONGEST_READ);
  }

  /** Processes the newest row of all lines. */
  #take(): void {
    const line = this.#ready.pop();
    const newest = line?.ahead.pop();
    if (line === undefined || newest === undefined) return;
    const row = this.#reading.fitting(newest);
    if (row !== undefined) {
      this.#rows.push(row);
      this.#wanted -= 1;
    }
    this.#keep(line);
    while (this.#unread.length > 0 && this.#wanted > 0) this.#readOn();
  }

  /** Adds a line to {@link #ready} or {@link #unread}. Drops the line if it has no more rows. */
  #keep(line: OpenLine<Row>): void {
    const newest = line.ahead.at(-1);
    if (newest === undefined) {
      if (line.before !== null) this.#unread.push(line);
      return;
    }
    const place = this.#toPosition(newest);
    let low = 0;
    let high = this.#ready.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#ready[middle]?.ahead.at(-1);
      if (other !== undefined && compareKeys(this.#toPosition(other), place) < 0) low = middle + 1;
      else high = middle;
    }
    this.#ready.splice(low, 0, line);
  }

  #toPosition({ key }: Ahead<Row>): Key {
    return key.slice(this.#order);
  }

  #key(parts: readonly KeyPart[]): Key {
    return this.#reading.key(this.#source.plan.index, parts);
  }
}
