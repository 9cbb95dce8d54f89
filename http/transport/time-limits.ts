import { ABSENT, Bag, type Member } from "../../runtime/schedule/bag.js";

/** Pending work with its deadline. */
interface Limited extends Member {
  readonly latestMs: number;
  readonly expire: () => void;
}

/** The possible ends of pending work. These functions must not throw. */
interface Ends<Result> {
  readonly done: (result: Result) => void;
  readonly failed: (error: unknown) => void;
  readonly late: () => void;
  /** Receives a result that arrives after the deadline. */
  readonly unused: (result: Result) => void;
}

export interface TimeLimitsOptions {
  /** Milliseconds since any fixed point. Never goes backwards. */
  readonly elapsedMs: () => number;
  /** Calls `wake` once, after `ms` milliseconds. */
  readonly wakeAfter: (ms: number, wake: () => void) => void;
}

/** Time limits of many promises with one timer. Most promises settle in time, so a timer for each would be wasted. */
export class TimeLimits {
  readonly #options: TimeLimitsOptions;
  readonly #pending = new Bag<Limited>();
  /** When the timer fires; infinity if there is no timer. */
  #wakesAtMs = Number.POSITIVE_INFINITY;

  constructor(options: TimeLimitsOptions) {
    this.#options = options;
  }

  /**
   * Calls `done` or `failed` when `work` settles, or `late` after `maxMs`. After `late`, calls `unused` if a result
   * still arrives, and ignores an error.
   */
  watch<Result>(work: Promise<Result>, maxMs: number, ends: Ends<Result>): void {
    const latestMs = this.#options.elapsedMs() + maxMs;
    const limited: Limited = { place: ABSENT, latestMs, expire: ends.late };
    this.#pending.add(limited);
    this.#wakeBy(latestMs);
    work.then(
      (result) => (this.#pending.remove(limited) ? ends.done(result) : ends.unused(result)),
      (error) => {
        if (this.#pending.remove(limited)) ends.failed(error);
      },
    );
  }

  #wakeBy(atMs: number): void {
    if (this.#wakesAtMs <= atMs) return;
    this.#wakesAtMs = atMs;
    this.#options.wakeAfter(atMs - this.#options.elapsedMs(), () => {
      // Do nothing if a later timer with an earlier deadline has replaced this one.
      if (this.#wakesAtMs === atMs) this.#expire();
    });
  }

  /** Ends overdue work and sets the timer for the next deadline. */
  #expire(): void {
    const nowMs = this.#options.elapsedMs();
    this.#wakesAtMs = Number.POSITIVE_INFINITY;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const limited of this.#pending.list()) {
      if (limited.latestMs > nowMs) nextMs = Math.min(nextMs, limited.latestMs);
      else {
        this.#pending.remove(limited);
        limited.expire();
      }
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#wakeBy(nextMs);
  }
}

/** Wakes with a timer that does not keep the process alive. */
export function wakeByTimer(ms: number, wake: () => void): void {
  setTimeout(wake, Math.ceil(ms)).unref();
}
