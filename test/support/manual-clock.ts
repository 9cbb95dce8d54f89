import type { Clock } from "../../runtime/clock.js";

/** A clock that a test moves. */
export class ManualClock implements Clock {
  #nowMs: number;
  readonly #alarms = new Set<{ atMs: number; readonly wake: () => void }>();

  constructor(startMs = Date.parse("2026-09-23T12:00:00.000Z")) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  at(atMs: number, wake: () => void): () => void {
    const alarm = { atMs, wake };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  /** Whether a timer is due in exactly `ms` milliseconds. */
  awaits(ms: number): boolean {
    return [...this.#alarms].some(({ atMs }) => atMs === this.#nowMs + ms);
  }

  /** Number of set timers. */
  get waiting(): number {
    return this.#alarms.size;
  }

  /** Sets the clock back, as when a fast clock is corrected. Each timer keeps its remaining time. */
  setBack(ms: number): void {
    this.#nowMs -= ms;
    const alarms = [...this.#alarms];
    for (const alarm of alarms) alarm.atMs -= ms;
  }

  /** Advances time. Due timers fire in order, including those set meanwhile. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#alarms].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#alarms.delete(due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.wake();
    }
    this.#nowMs = endMs;
  }
}
