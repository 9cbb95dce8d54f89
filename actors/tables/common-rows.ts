/**
 * Reads a page of the rows that have entries in several indexes, newest first. Each index has one line of entries
 * (`page-plan.ts`), ordered by position.
 *
 * 1. The reader walks through the first line and checks the row of each entry.
 * 2. After too many rows without a match, the reader looks at the next position of each line. It moves all lines to
 *   the oldest of these positions.
 *
 * So the reader finds the common rows without reading all rows of any line.
 */
import { compareKeys } from "../../storage/key-order.js";
import type { Key, Reading } from "../../storage/store.js";
import type { IndexPart } from "./page-plan.js";
import { type Cursor, type Line, type PageSource, ROWS_BEGIN, type Slice, SliceReading } from "./page-source.js";

/**
 * Maximum number of keys to read from a line in one batch. The next constant is the minimum. Between these limits, the
 * number is twice the number of rows still wanted.
 */
const LONGEST_READ = 32;
const SHORTEST_READ = 4;
/**
 * Number of rows without a match after which the lines skip. After a skip that found a match, half of this number is
 * enough.
 */
const MAX_MISSES = 16;

/**
 * A line of one index. `ahead` has the line's next positions, newest last. `before` is null if `ahead` has all
 * remaining positions.
 */
interface Side {
  readonly part: IndexPart;
  readonly ahead: Key[];
  before: Key | null;
}

/** Reads the slice at `cursor`, which has a line for each index. A null cursor starts the page. */
export function readCommonSlice<Row extends object>(
  reading: Reading,
  source: PageSource<Row>,
  cursor: Cursor<Row> | null,
): Slice<Row> {
  return new CommonRows(reading, source, cursor).read();
}

/** Reads one slice. */
class CommonRows<Row extends object> {
  readonly #reading: SliceReading<Row>;
  readonly #source: PageSource<Row>;
  readonly #sides: readonly Side[];
  readonly #rows: Row[] = [];
  readonly #found: number;
  /** Whether a line has no more positions. */
  #isAtEnd = false;
  /** Number of rows read without a match. At {@link MAX_MISSES} the lines skip. */
  #misses: number;

  constructor(reading: Reading, source: PageSource<Row>, cursor: Cursor<Row> | null) {
    const { plan } = source;
    this.#reading = new SliceReading(reading, source);
    this.#source = source;
    this.#found = cursor?.found ?? 0;
    this.#misses = cursor?.misses ?? 0;
    this.#sides = [plan, ...plan.also].map(({ index, under }, side) => {
      const line = cursor?.lines[side];
      const part = { index, under };
      return { part, ahead: line?.ahead.map(({ key }) => key) ?? [], before: line === undefined ? [] : line.before };
    });
  }

  read(): Slice<Row> {
    while (!this.#isAtEnd && this.#wanted > 0 && !this.#reading.isOver) {
      if (this.#misses < MAX_MISSES) this.#walk();
      else this.#skip();
    }
    if (this.#isAtEnd || this.#wanted <= 0) return { rows: this.#rows, next: null };
    const found = this.#found + this.#rows.length;
    return { rows: this.#rows, next: { found, lastLine: null, lines: this.#sides.map(toLine), misses: this.#misses } };
  }

  /** Number of rows that the page still needs. */
  get #wanted(): number {
    return (this.#source.page.limit ?? Number.POSITIVE_INFINITY) - this.#found - this.#rows.length;
  }

  /** Reads the next row of the first line. */
  #walk(): void {
    const [first] = this.#sides;
    if (first?.ahead.length === 0) this.#readOn(first, null);
    const place = first?.ahead.pop();
    if (place === undefined) this.#isAtEnd = true;
    else this.#misses = this.#take(place) ? 0 : this.#misses + 1;
  }

  /** Moves all lines to the oldest of their next positions. If all lines have this position, reads its row. */
  #skip(): void {
    const target = this.#oldest();
    for (const side of this.#sides) {
      while (target !== null && isNewer(side.ahead.at(-1), target)) side.ahead.pop();
      if (side.ahead.length > 0) continue;
      this.#readOn(side, target);
      if (side.ahead.length === 0) {
        this.#isAtEnd = true;
        return;
      }
    }
    const next = this.#oldest();
    if (next === null || this.#sides.some(({ ahead }) => isNewer(ahead.at(-1), next))) return;
    for (const { ahead } of this.#sides) ahead.pop();
    if (this.#take(next)) this.#misses = MAX_MISSES / 2;
  }

  /** Adds the row at a position to the page if the row matches. Returns whether it matches. */
  #take(place: Key): boolean {
    const { index, under } = this.#source.plan;
    const row = this.#reading.fitting({ key: this.#reading.key(index, [...under, ...place]), row: undefined });
    if (row !== undefined) this.#rows.push(row);
    return row !== undefined;
  }

  /** Returns the oldest of the lines' next positions; null if there is none. */
  #oldest(): Key | null {
    let oldest: Key | null = null;
    for (const { ahead } of this.#sides) {
      const next = ahead.at(-1);
      if (next !== undefined && (oldest === null || compareKeys(next, oldest) < 0)) oldest = next;
    }
    return oldest;
  }

  /** Reads the next positions of a line. With a `target`, skips the positions that are newer than `target`. */
  #readOn(side: Side, target: Key | null): void {
    if (side.before === null) return;
    const { index, under } = side.part;
    const { page } = this.#source;
    const key = (place: Key) => this.#reading.key(index, [...under, ...place]);
    const from = side.before.length > 0 ? side.before : (page.before ?? []);
    const skips = target !== null && (from.length === 0 || compareKeys(target, from) < 0);
    const before = skips ? target : from;
    const limit = Math.max(SHORTEST_READ, Math.min(2 * this.#wanted, LONGEST_READ));
    const keys = this.#reading.keys({
      prefix: key([]),
      reverse: true,
      limit,
      before: before.length > 0 ? key(before) : undefined,
      after: page.after === undefined ? undefined : key(page.after),
    });
    const places = keys.map((found) => found.slice(ROWS_BEGIN + index.by.length));
    side.ahead.push(...places.reverse());
    side.before = keys.length < limit ? null : (side.ahead[0] ?? null);
    if (skips && this.#reading.has(key(target))) side.ahead.push(target);
  }
}

function isNewer(place: Key | undefined, than: Key): boolean {
  return place !== undefined && compareKeys(place, than) > 0;
}

function toLine({ part, ahead, before }: Side): Line<never> {
  return { under: part.under, ahead: ahead.map((key) => ({ key, row: undefined })), before };
}
