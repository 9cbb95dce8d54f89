import { GLOBAL_PARTITION, timerSpace } from "../storage/keys.js";
import { listKeys } from "../storage/list-keys.js";
import { isBelow } from "../storage/ranges.js";
import type { Key, Range, Reading, Writing } from "../storage/store.js";
import type { Address } from "./address.js";
import type { Clock } from "./clock.js";

/** A wake-up of one actor. */
export interface Timer {
  readonly to: Address;
  readonly name: string;
  readonly dueMs: number;
}

const PREFIX: Key = [GLOBAL_PARTITION, timerSpace];

/**
 * Durable wake-ups. Owns the timer rows, and keeps a window of the earliest ones in memory. Only the cell knows which
 * wake-ups of its actor are current, so a timer returned here may be stale.
 *
 * 1. Every row due before `#horizonMs` is in the heap or was returned; every other row is on disk (or in the overlay).
 * 2. The heap holds at most twice the window, plus the timers due in the last millisecond before the horizon.
 * 3. Timers are returned in due order.
 * 4. A row says everything in its key, and the actor's record confirms it: a damaged value changes nothing.
 */
export class Timers {
  readonly #reading: Reading;
  readonly #clock: Clock;
  readonly #windowSize: number;
  readonly #due: () => void;
  #heap: Timer[] = [];
  #horizonMs = 0;
  #cancelAlarm: (() => void) | null = null;
  #alarmMs = Number.POSITIVE_INFINITY;

  constructor(reading: Reading, clock: Clock, windowSize: number, due: () => void) {
    this.#reading = reading;
    this.#clock = clock;
    this.#windowSize = windowSize;
    this.#due = due;
  }

  get inMemory(): number {
    return this.#heap.length;
  }

  /** Writes the row of a wake-up. The caller sets the alarm afterwards ({@link setAlarm}). */
  set(writing: Writing, timer: Timer): void {
    writing.put(timerKey(timer), null);
    if (timer.dueMs >= this.#horizonMs) return;
    push(this.#heap, timer);
    if (this.#heap.length > 2 * this.#windowSize) this.#shrink();
  }

  /** Removes the row of a wake-up that was taken, replaced or cancelled. */
  clear(writing: Writing, timer: Timer): void {
    writing.remove(timerKey(timer));
  }

  /** Takes the next timer that is due at `nowMs`; undefined when there is none. */
  takeDue(nowMs: number): Timer | undefined {
    if (this.#heap.length === 0) this.#load();
    const first = this.#heap[0];
    return first !== undefined && first.dueMs <= nowMs ? pop(this.#heap) : undefined;
  }

  /** Sets the alarm for the earliest timer. */
  setAlarm(): void {
    if (this.#heap.length === 0) this.#load();
    const earliestMs = this.#heap[0]?.dueMs ?? Number.POSITIVE_INFINITY;
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

  /** Fills the empty heap from the rows at the horizon and later. */
  #load(): void {
    if (this.#horizonMs === Number.POSITIVE_INFINITY) return;
    const from = this.#horizonMs === 0 ? {} : { after: [...PREFIX, this.#horizonMs - 1] };
    const keys = this.#keys({ prefix: PREFIX, ...from, limit: this.#windowSize });
    const last = keys.at(-1);
    if (last === undefined || keys.length < this.#windowSize) {
      this.#horizonMs = Number.POSITIVE_INFINITY;
    } else {
      // The limit may fall inside a millisecond: read the rest of that millisecond too.
      this.#horizonMs = toTimer(last).dueMs + 1;
      keys.push(...this.#keys({ prefix: PREFIX, after: last, before: [...PREFIX, this.#horizonMs] }));
    }
    // Rows are in due order, and a sorted array is a heap.
    this.#heap = keys.map(toTimer);
  }

  #keys(range: Range): Key[] {
    return listKeys(this.#reading, range).filter((key) => isBelow(key, PREFIX) && Number.isSafeInteger(key[2]));
  }

  /** Drops the later half; their rows are read again when they come near. */
  #shrink(): void {
    this.#heap.sort((a, b) => a.dueMs - b.dueMs);
    const horizonMs = this.#heap[this.#windowSize]?.dueMs ?? Number.POSITIVE_INFINITY;
    const first = this.#heap[0]?.dueMs ?? 0;
    if (horizonMs === first) return;
    this.#horizonMs = horizonMs;
    this.#heap = this.#heap.filter((timer) => timer.dueMs < horizonMs);
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

/** Adds to a binary heap, earliest first. */
function push(heap: Timer[], timer: Timer): void {
  let index = heap.push(timer) - 1;
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || parent.dueMs <= timer.dueMs) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = timer;
}

/** Takes the earliest off a binary heap. */
function pop(heap: Timer[]): Timer | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let below = 2 * index + 1;
    let child = heap[below];
    if (child === undefined) break;
    const right = heap[below + 1];
    if (right !== undefined && right.dueMs < child.dueMs) {
      child = right;
      below += 1;
    }
    if (child.dueMs >= last.dueMs) break;
    heap[index] = child;
    index = below;
  }
  heap[index] = last;
  return first;
}
