import { compareKeys } from "../storage/key-order.js";
import { GLOBAL_PARTITION, metaSpace, timerSpace } from "../storage/keys.js";
import { listKeys } from "../storage/list-keys.js";
import { isBelow } from "../storage/ranges.js";
import { isDamage, type Key, type Range, type Reading, type Writing } from "../storage/store.js";
import type { Address } from "./address.js";
import { type Clock, STEP_BACK_MS } from "./clock.js";

/** A wake-up of one actor. */
export interface Timer {
  readonly to: Address;
  readonly name: string;
  readonly dueMs: number;
}

/** A wake-up in memory. */
interface Alarm extends Timer {
  /** When it is taken: when it is due, or earlier if it was set while the clock was ahead. */
  readonly takeMs: number;
}

const PREFIX: Key = [GLOBAL_PARTITION, timerSpace];
/** The row that tells the next process how late it was here, for the case that the clock was ahead. */
const LATEST_KEY: Key = [GLOBAL_PARTITION, metaSpace, "latest-time"];
/** The row that tells later processes until when the clock was ahead here, once it has gone back. */
const AHEAD_KEY: Key = [GLOBAL_PARTITION, metaSpace, "ahead-until"];
/** How often the first row is written, in milliseconds, with the next wake-up that is set; at once with the first one. */
const MARK_EVERY_MS = 60_000;
/** Most rows read at once, less when the window is smaller: about a millisecond. */
const ROWS_READ = 256;

/**
 * Durable wake-ups. Owns the timer rows, and keeps a window of the earliest ones in memory. Only the cell knows which
 * wake-ups of its actor are current, so a timer returned here may be stale.
 *
 * 1. Every row up to `#lastRead` is in the heap or was returned; every other row is on disk (or in the overlay).
 * 2. The heap holds at most twice the window, and rows are read a few at a time, however many are due at once.
 * 3. Timers are returned in due order.
 * 4. A row says in its key when it is due, and the actor's record confirms it. Its value is when it was set: when the
 *    clock goes back, what was set later than it is now was set while the clock was ahead, and is due after the time that it
 *    had left then. A damaged value leaves it at its own time.
 */
export class Timers {
  readonly #reading: Reading;
  readonly #clock: Clock;
  readonly #windowSize: number;
  readonly #due: () => void;
  #heap: Alarm[] = [];
  /** What was set while the clock was ahead; it may be in the heap under its own time too, and is stale there then. */
  readonly #early: Alarm[] = [];
  /** The key of the last row that was read, or that is kept in memory; null before the first. */
  #lastRead: Key | null = null;
  /** All rows were read. */
  #hasAll = false;
  /** The latest time that was seen, by this process or the one before. */
  #latestMs: number;
  #markedMs = Number.NEGATIVE_INFINITY;
  /** Until when the clock was ahead, as long as no row says so; null for nothing to say. */
  #aheadMs: number | null = null;
  #cancelAlarm: (() => void) | null = null;
  #alarmMs = Number.POSITIVE_INFINITY;

  constructor(reading: Reading, clock: Clock, windowSize: number, due: () => void) {
    this.#reading = reading;
    this.#clock = clock;
    this.#windowSize = windowSize;
    this.#due = due;
    this.#latestMs = readNumber(reading, LATEST_KEY);
  }

  get inMemory(): number {
    return this.#heap.length;
  }

  /** Writes the row of a wake-up. The caller sets the alarm afterwards ({@link setAlarm}). */
  set(writing: Writing, timer: Timer): void {
    const nowMs = this.#clock.now();
    const key = timerKey(timer);
    writing.put(key, nowMs);
    if (this.#aheadMs !== null) {
      writing.put(AHEAD_KEY, Math.max(this.#aheadMs, readNumber(this.#reading, AHEAD_KEY)));
      this.#aheadMs = null;
    }
    if (nowMs - this.#markedMs >= MARK_EVERY_MS) {
      this.#markedMs = nowMs;
      writing.put(LATEST_KEY, nowMs);
    }
    if (!this.#hasAll && (this.#lastRead === null || compareKeys(key, this.#lastRead) > 0)) return;
    push(this.#heap, toAlarm(timer));
    if (this.#heap.length > 2 * this.#windowSize) this.#shrink();
  }

  /** Removes the row of a wake-up that was taken, replaced or cancelled. */
  clear(writing: Writing, timer: Timer): void {
    writing.remove(timerKey(timer));
  }

  /** Takes the next timer that is due at `nowMs`; undefined when there is none. */
  takeDue(nowMs: number): Timer | undefined {
    if (this.#latestMs - nowMs >= STEP_BACK_MS) {
      this.#aheadMs = this.#latestMs;
      this.#goBack(nowMs);
    }
    this.#latestMs = nowMs;
    if (this.#heap.length === 0) this.#load();
    for (const heap of [this.#early, this.#heap]) {
      const first = heap[0];
      if (first !== undefined && first.takeMs <= nowMs) return pop(heap);
    }
    return undefined;
  }

  /** Sets the alarm for the earliest timer. */
  setAlarm(): void {
    if (this.#heap.length === 0) this.#load();
    const earliestMs = Math.min(
      ...[this.#heap, this.#early].map(([first]) => first?.takeMs ?? Number.POSITIVE_INFINITY),
    );
    if (earliestMs === this.#alarmMs) return;
    this.#cancelAlarm?.();
    this.#alarmMs = earliestMs;
    this.#cancelAlarm = Number.isFinite(earliestMs) ? this.#clock.at(earliestMs, () => this.#ring()) : null;
  }

  stop(): void {
    this.#cancelAlarm?.();
    this.#cancelAlarm = null;
  }

  #ring(): void {
    this.#alarmMs = Number.POSITIVE_INFINITY;
    this.#cancelAlarm = null;
    this.#due();
  }

  /** Fills the empty heap with the next rows. */
  #load(): void {
    if (this.#hasAll) return;
    const from = this.#lastRead === null ? {} : { after: this.#lastRead };
    const limit = Math.min(this.#windowSize, ROWS_READ);
    const keys = this.#keys({ prefix: PREFIX, ...from, limit });
    this.#hasAll = keys.length < limit;
    this.#lastRead = keys.at(-1) ?? this.#lastRead;
    // Rows are in due order, and a sorted array is a heap.
    this.#heap = keys.map((key) => toAlarm(toTimer(key)));
  }

  #keys(range: Range): Key[] {
    return listKeys(this.#reading, range).filter(isTimerKey);
  }

  /** Finds what was set while the clock was ahead. Reads every row, which is seldom needed. */
  #goBack(nowMs: number): void {
    this.#markedMs = nowMs;
    for (let after: Key | undefined; ; ) {
      const keys = this.#keys({ prefix: PREFIX, after, limit: this.#windowSize });
      for (const key of keys) {
        const timer = toTimer(key);
        const setMs = readNumber(this.#reading, key);
        if (setMs > nowMs) push(this.#early, { ...timer, takeMs: nowMs + Math.max(0, timer.dueMs - setMs) });
      }
      after = keys.at(-1);
      if (after === undefined || keys.length < this.#windowSize) return;
    }
  }

  /** Drops the later half; their rows are read again when they come near. */
  #shrink(): void {
    this.#heap.sort((a, b) => a.takeMs - b.takeMs || compareKeys(timerKey(a), timerKey(b)));
    this.#heap.length = this.#windowSize;
    const last = this.#heap.at(-1);
    this.#lastRead = last === undefined ? null : timerKey(last);
    this.#hasAll = false;
  }
}

/** Whether wake-ups may be stored that were set later than it is now, by a clock that was ahead. */
export function wasAhead(reading: Reading, nowMs: number): boolean {
  return [LATEST_KEY, AHEAD_KEY].some((key) => readNumber(reading, key) > nowMs);
}

/** The wake-ups that are due after a time, in due order; a record of an actor may say otherwise. */
export function* listLaterTimers(reading: Reading, afterMs: number): Generator<Timer> {
  for (let after: Key = [...PREFIX, afterMs + 1]; ; ) {
    const keys = listKeys(reading, { prefix: PREFIX, after, limit: ROWS_READ });
    for (const key of keys.filter(isTimerKey)) yield toTimer(key);
    const last = keys.findLast(isTimerKey);
    if (last === undefined || keys.length < ROWS_READ) return;
    after = last;
  }
}

/** Whether damage has not made it the key of something else. */
function isTimerKey(key: Key): boolean {
  return isBelow(key, PREFIX) && Number.isSafeInteger(key[2]);
}

/** The number at a key; 0 where there is none, or a damaged one. */
function readNumber(reading: Reading, key: Key): number {
  try {
    return reading.get<number | null>(key) ?? 0;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return 0;
  }
}

/** The key of a wake-up's row. */
export function timerKey(timer: Timer): Key {
  const { partition, kind, id } = timer.to;
  return [GLOBAL_PARTITION, timerSpace, timer.dueMs, partition, kind, id, timer.name];
}

function toTimer(key: Key): Timer {
  const [, , dueMs, partition, kind, id, name] = key;
  return {
    to: { partition: String(partition), kind: String(kind), id: String(id) },
    name: String(name),
    dueMs: Number(dueMs),
  };
}

function toAlarm(timer: Timer): Alarm {
  return { ...timer, takeMs: timer.dueMs };
}

/** Adds to a binary heap, earliest first. */
function push(heap: Alarm[], timer: Alarm): void {
  let index = heap.push(timer) - 1;
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || parent.takeMs <= timer.takeMs) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = timer;
}

/** Takes the earliest off a binary heap. */
function pop(heap: Alarm[]): Alarm | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let below = 2 * index + 1;
    let child = heap[below];
    if (child === undefined) break;
    const right = heap[below + 1];
    if (right !== undefined && right.takeMs < child.takeMs) {
      child = right;
      below += 1;
    }
    if (child.takeMs >= last.takeMs) break;
    heap[index] = child;
    index = below;
  }
  heap[index] = last;
  return first;
}
