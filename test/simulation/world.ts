import type { Clock, Scheduler } from "../../runtime/clock.js";
import type { Chance } from "./chance.js";

/** Something that may happen next. */
interface Happening {
  readonly run: () => void;
  /** It is part of the simulated process and goes with it. */
  readonly volatile: boolean;
}

interface Timed extends Happening {
  atMs: number;
}

/** Longest time that passes by itself in one step, in milliseconds. */
const DRIFT_MS = 40;

/**
 * Simulated time and order: whatever could happen next is in one list, and chance picks from it. Time passes only
 * when nothing can happen, or a little now and then.
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

  /** The clock of a process: its alarms die with it. */
  readonly clock: Clock = {
    now: () => this.nowMs,
    at: (atMs, wake) => this.#at({ atMs, run: wake, volatile: true }),
  };

  /** The scheduler of a process. */
  readonly scheduler: Scheduler = { defer: (work) => this.soon(work) };

  /** Lets something of the process happen soon. */
  soon(run: () => void): void {
    this.#ready.push({ run, volatile: true });
  }

  /** Lets something of the process happen after `ms`. */
  later(ms: number, run: () => void): void {
    this.#at({ atMs: this.nowMs + ms, run, volatile: true });
  }

  /** Waits outside the process, which it outlives. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#at({ atMs: this.nowMs + ms, run: resolve, volatile: false });
    });
  }

  /** The process is gone with all that it would have done. */
  killProcess(): void {
    this.#ready = this.#ready.filter((happening) => !happening.volatile);
    this.#timed = this.#timed.filter((happening) => !happening.volatile);
  }

  /** Puts the clock right, which was ahead; what waits still waits for the time that it had left. */
  setBack(ms: number): void {
    this.nowMs -= ms;
    for (const timed of this.#timed) timed.atMs -= ms;
  }

  /** Lets one thing happen; false when nothing ever will. */
  async step(): Promise<boolean> {
    this.steps += 1;
    if (this.#ready.length === 0 || this.#chance.onceIn(8)) this.#passTime();
    const index = this.#chance.between(0, Math.max(0, this.#ready.length - 1));
    const [next] = this.#ready.splice(index, 1);
    if (next === undefined) return false;
    next.run();
    // Promises that follow from it settle before anything else happens.
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  }

  /** Lets everything happen that can within the next `ms`, and that much time pass. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    for (;;) {
      if (this.#ready.length > 0) {
        this.#ready.shift()?.run();
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      // What waits for a promise of the test, not for time, shows up after this.
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
