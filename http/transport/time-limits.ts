import { ABSENT, Bag, type Member } from "../../runtime/schedule/bag.js";

/** What is under way with a limit of its own. */
interface Limited extends Member {
  readonly latestMs: number;
  readonly expire: () => void;
}

/** How work may end; none of these may throw. */
interface Ends<Result> {
  readonly done: (result: Result) => void;
  readonly failed: (error: unknown) => void;
  readonly late: () => void;
  /** Takes what came too late. */
  readonly unused: (result: Result) => void;
}

export interface TimeLimitsOptions {
  /** Milliseconds from any fixed point; never goes backwards. */
  readonly elapsedMs: () => number;
  /** Calls `wake` once after as many milliseconds. */
  readonly wakeAfter: (ms: number, wake: () => void) => void;
}

/** Time limits of many promises under one timer: most are kept, and a timer for each would be made in vain. */
export class TimeLimits {
  readonly #options: TimeLimitsOptions;
  readonly #pending = new Bag<Limited>();
  /** When the timer wakes; infinity while there is none. */
  #wakesAtMs = Number.POSITIVE_INFINITY;

  constructor(options: TimeLimitsOptions) {
    this.#options = options;
  }

  /** Calls one of `ends`, once: as `work` ends, or after `mostMs`. What `work` throws after that is dropped. */
  watch<Result>(work: Promise<Result>, mostMs: number, ends: Ends<Result>): void {
    const latestMs = this.#options.elapsedMs() + mostMs;
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
      // Another timer, that was set later to wake earlier, has taken this one's place.
      if (this.#wakesAtMs === atMs) this.#expire();
    });
  }

  /** Ends what is late; wakes again for the earliest of the rest. */
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

/** Wakes by a timer that does not keep the process alive. */
export function wakeByTimer(ms: number, wake: () => void): void {
  setTimeout(wake, Math.ceil(ms)).unref();
}
