import type { RuntimeLimits, RuntimeOptions } from "./runtime.js";

/** Most turns in a batch while several parties are about: what a commit does in one go takes a tenth of a millisecond. */
const SHARED_TURNS = 16;
/** The same for each millisecond that the last flush took, if that is more. */
const SHARED_TURNS_A_MS = 8;

/**
 * How many turns a batch may have, and how long flushes take. While several parties are about it has few, so that the
 * event loop is not held for long by what a commit does in one go. The slower flushes are the more turns share one: they
 * never let through fewer than {@link SHARED_TURNS_A_MS} a millisecond.
 */
export class BatchBound {
  readonly #limit: number;
  readonly #isShared: () => boolean;
  readonly #elapsedMs: () => number;
  #begunMs = 0;
  #flushMs = 0;

  constructor({ turnsPerBatch }: RuntimeLimits, { isShared, elapsedMs }: RuntimeOptions) {
    this.#limit = turnsPerBatch;
    this.#isShared = isShared ?? (() => false);
    this.#elapsedMs = elapsedMs ?? (() => performance.now());
  }

  /** Most turns in the batch that is open now. */
  get turns(): number {
    if (!this.#isShared()) return this.#limit;
    return Math.min(this.#limit, Math.max(SHARED_TURNS, Math.ceil(this.#flushMs * SHARED_TURNS_A_MS)));
  }

  /** Call when a flush begins. */
  begin(): void {
    this.#begunMs = this.#elapsedMs();
  }

  /** Call when it is over; returns how long it took, in milliseconds. */
  flushed(): number {
    this.#flushMs = this.#elapsedMs() - this.#begunMs;
    return this.#flushMs;
  }
}
