import type { Clock, Scheduler } from "../../runtime/clock.js";
import type { Chance } from "./chance.js";

/** An event that may happen next. */
interface Happening {
  readonly run: () => void;
  /** Whether the event belongs to the simulated process and is lost when the process dies. */
  readonly volatile: boolean;
}

interface Timed extends Happening {
  atMs: number;
}

/** Maximum time that passes on its own in one step, in milliseconds. */
const DRIFT_MS = 40;

/**
 * Simulated time and order. One list contains all events that can happen next, and each step picks a random event of
 * the list. Time passes when no event is ready. Sometimes a little time also passes between two events.
 */
export class World {
  nowMs = Date.parse("2026-01-01T00:00:00.000Z");
  steps = 0;
  readonly #chance: Chance;
  #ready: Happening[] = [];
  #timed: Timed[] = [];

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** The clock of a process. Its alarms are lost when the process dies. */
  readonly clock: Clock = {
    now: () => this.nowMs,
    at: (atMs, wake) => this.#at({ atMs, run: wake, volatile: true }),
  };

  /** The scheduler of a process. */
  readonly scheduler: Scheduler = { defer: (work) => this.soon(work) };

  /** Schedules an event of the process without delay. */
  soon(run: () => void): void {
    this.#ready.push({ run, volatile: true });
  }

  /** Schedules an event of the process after `ms`. */
  later(ms: number, run: () => void): void {
    this.#at({ atMs: this.nowMs + ms, run, volatile: true });
  }

  /** Waits outside of the process. If the process dies, the wait continues. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#at({ atMs: this.nowMs + ms, run: resolve, volatile: false });
    });
  }

  /** Removes all pending events of the process. */
  killProcess(): void {
    this.#ready = this.#ready.filter((happening) => !happening.volatile);
    this.#timed = this.#timed.filter((happening) => !happening.volatile);
  }

  /** Sets the clock back, as when a fast clock is corrected. Pending events keep their remaining time. */
  setBack(ms: number): void {
    this.nowMs -= ms;
    for (const timed of this.#timed) timed.atMs -= ms;
  }

  /** Runs one event. Returns false if no event is left. */
  async step(): Promise<boolean> {
    this.steps += 1;
    if (this.#ready.length === 0 || this.#chance.onceIn(8)) this.#passTime();
    const index = this.#chance.between(0, Math.max(0, this.#ready.length - 1));
    const [next] = this.#ready.splice(index, 1);
    if (next === undefined) return false;
    next.run();
    // Let the promises that depend on the event settle before the next event.
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  }

  /** Runs all events of the next `ms`, and advances the time by `ms`. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    for (;;) {
      if (this.#ready.length > 0) {
        this.#ready.shift()?.run();
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      // Let the test's own promises settle, so that events that wait for these promises become ready.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#ready.length > 0) continue;
      const nextMs = this.#timed.reduce((earliest, { atMs }) => Math.min(earliest, atMs), Number.POSITIVE_INFINITY);
      if (nextMs > untilMs) break;
      this.#passTime();
    }
    this.nowMs = untilMs;
  }

  #at(timed: Timed): () => void {
    this.#timed.push(timed);
    return () => {
      this.#timed = this.#timed.filter((other) => other !== timed);
      this.#ready = this.#ready.filter((other) => other !== timed);
    };
  }

  #passTime(): void {
    const nextMs = this.#timed.reduce((earliest, { atMs }) => Math.min(earliest, atMs), Number.POSITIVE_INFINITY);
    if (this.#ready.length > 0) this.nowMs += this.#chance.between(0, DRIFT_MS);
    else if (Number.isFinite(nextMs)) this.nowMs = Math.max(this.nowMs, nextMs);
    this.#ready.push(...this.#timed.filter(({ atMs }) => atMs <= this.nowMs));
    this.#timed = this.#timed.filter(({ atMs }) => atMs > this.nowMs);
  }
}
