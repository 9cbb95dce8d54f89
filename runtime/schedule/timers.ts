import { compareKeys } from "../../storage/key-order.js";
import { GLOBAL_PARTITION, metaSpace, timerSpace } from "../../storage/keys.js";
import { listKeys } from "../../storage/list-keys.js";
import { isBelow } from "../../storage/ranges.js";
import { isDamage, type Key, type Range, type Reading, type Writing } from "../../storage/store.js";
import type { Address } from "../cells/address.js";
import { type Clock, STEP_BACK_MS } from "../clock.js";

/** A wake-up of one actor. */
export interface Timer {
  readonly to: Address;
  readonly name: string;
  readonly dueMs: number;
}

/** A wake-up in memory. */
interface Alarm extends Timer {
  /** When the wake-up is taken: at its due time, or earlier if the wake-up was set while the clock was ahead. */
  readonly takeMs: number;
}

const PREFIX: Key = [GLOBAL_PARTITION, timerSpace];
/**
 * The key of the row that stores the latest time of this process. The next process reads this row to detect that the
 * clock was ahead.
 */
const LATEST_KEY: Key = [GLOBAL_PARTITION, metaSpace, "latest-time"];
/**
 * The key of the row that stores up to which time the clock was ahead. A process writes this row after the clock goes
 * back, for later processes.
 */
const AHEAD_KEY: Key = [GLOBAL_PARTITION, metaSpace, "ahead-until"];
/**
 * Minimum interval between writes of the latest-time row, in milliseconds. The row is written together with a wake-up;
 * the first wake-up of a process always writes it.
 */
const MARK_EVERY_MS = 60_000;
/** Maximum number of rows to read at a time; fewer if the window is smaller. Reading them takes about a millisecond. */
const ROWS_READ = 256;

/**
 * The durable wake-ups. This class owns the timer rows, and caches a window of the earliest wake-ups in memory. Only an
 * actor's cell knows which of its wake-ups are current, so a returned timer may be stale.
 *
 * 1. Every row up to `#lastRead` is in the heap or was returned. Every other row is on disk or in the overlay.
 * 2. The heap holds at most twice the window. Rows are read a few at a time, even if many are due at once.
 * 3. Timers are returned in due order.
 * 4. A row's key contains the due time, which the actor's record confirms. The row's value is the time when the
 *   wake-up was set.
 * 5. If the value is in the future after the clock goes back, the wake-up was set while the clock was ahead. It then
 *   becomes due after its originally remaining time. With a damaged value, the due time is unchanged.
 */
export class Timers {
  readonly #reading: Reading;
  readonly #clock: Clock;
  readonly #windowSize: number;
  readonly #due: () => void;
  #heap: Alarm[] = [];
  /**
   * Wake-ups that were set while the clock was ahead, with their corrected due times. `#heap` may still hold such a
   * wake-up with its old due time; that entry is stale.
   */
  readonly #early: Alarm[] = [];
  /** The key of the last row that was read or is cached in memory; null before the first row. */
  #lastRead: Key | null = null;
  /** Whether all rows have been read. */
  #hasAll = false;
  /** The latest time seen, by this process or the previous one. */
  #latestMs: number;
  #markedMs = Number.NEGATIVE_INFINITY;
  /** The time up to which the clock was ahead; null if it was not ahead, or once a row stores this time. */
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

  /** Writes the row of a wake-up. The caller must call {@link setAlarm} afterwards. */
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

  /** Takes the next timer that is due at `nowMs`; undefined if none is due. */
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
    // The rows are in due order, and a sorted array is a valid heap.
    this.#heap = keys.map((key) => toAlarm(toTimer(key)));
  }

  #keys(range: Range): Key[] {
    return listKeys(this.#reading, range).filter(isTimerKey);
  }

  /** Finds wake-ups that were set while the clock was ahead. Reads every row, but is rarely needed. */
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

  /** Drops the timers beyond the window from the heap. Their rows are read again when they are nearly due. */
  #shrink(): void {
    this.#heap.sort((a, b) => a.takeMs - b.takeMs || compareKeys(timerKey(a), timerKey(b)));
    this.#heap.length = this.#windowSize;
    const last = this.#heap.at(-1);
    this.#lastRead = last === undefined ? null : timerKey(last);
    this.#hasAll = false;
  }
}

/** Whether the store may contain wake-ups with a set time in the future, because the clock was ahead. */
export function wasAhead(reading: Reading, nowMs: number): boolean {
  return [LATEST_KEY, AHEAD_KEY].some((key) => readNumber(reading, key) > nowMs);
}

/** Lists the wake-ups that are due after a time, in due order. Some may be stale; the actors' records decide. */
export function* listLaterTimers(reading: Reading, afterMs: number): Generator<Timer> {
  for (let after: Key = [...PREFIX, afterMs + 1]; ; ) {
    const keys = listKeys(reading, { prefix: PREFIX, after, limit: ROWS_READ });
    for (const key of keys.filter(isTimerKey)) yield toTimer(key);
    const last = keys.findLast(isTimerKey);
    if (last === undefined || keys.length < ROWS_READ) return;
    after = last;
  }
}

/** Whether the key is a valid timer key. Damage in the store can return other keys. */
function isTimerKey(key: Key): boolean {
  return isBelow(key, PREFIX) && Number.isSafeInteger(key[2]);
}

/** Returns the number at a key; 0 if it is missing or damaged. */
function readNumber(reading: Reading, key: Key): number {
  try {
    return reading.get<number | null>(key) ?? 0;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return 0;
  }
}

/** Returns the key of a wake-up's row. */
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

/** Adds a timer to a binary heap whose first item is the earliest. */
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

/** Removes and returns the earliest timer of a binary heap; undefined if the heap is empty. */
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
