import type { Clock } from "../../runtime/clock.js";

export interface RateLimitOptions {
  /** How many may come in `perMs`, evenly spread. 0 admits all. */
  readonly max: number;
  readonly perMs: number;
  /** How many may come at once after a pause. */
  readonly burst: number;
  readonly clock: Clock;
  /** Sources remembered at once; 100,000 unless a test wants fewer. */
  readonly maxSources?: number;
}

/**
 * A steady rate with room for a burst, for each source (GCRA): a source costs one number in memory, the time at which
 * its allowance would be full again. Past the most sources, one is forgotten, which only ever admits; those whose
 * allowance is full anyway go first.
 */
export class RateLimit {
  readonly #intervalMs: number;
  readonly #roomMs: number;
  readonly #clock: Clock;
  readonly #maxSources: number;
  readonly #fullAtMs = new Map<string, number>();

  constructor({ max, perMs, burst, clock, maxSources = 100_000 }: RateLimitOptions) {
    this.#intervalMs = max === 0 ? 0 : perMs / max;
    this.#roomMs = this.#intervalMs * burst;
    this.#clock = clock;
    this.#maxSources = maxSources;
  }

  /** Counts one of the source; gives 0 when it is admitted, else the whole seconds to wait. */
  take(source: string): number {
    if (this.#intervalMs === 0) return 0;
    const now = this.#clock.now();
    const known = this.#fullAtMs.get(source);
    const fullAtMs = Math.max(known ?? 0, now) + this.#intervalMs;
    const overMs = fullAtMs - now - this.#roomMs;
    // A hair of tolerance, for intervals that are no whole numbers.
    if (overMs > 0.001) return Math.max(1, Math.ceil(overMs / 1_000));
    if (known === undefined) this.#makeRoom(now);
    this.#fullAtMs.set(source, fullAtMs);
    return 0;
  }

  /** Sources remembered. */
  get size(): number {
    return this.#fullAtMs.size;
  }

  #makeRoom(now: number): void {
    if (this.#fullAtMs.size < this.#maxSources) return;
    for (const [source, fullAtMs] of this.#fullAtMs) if (fullAtMs <= now) this.#fullAtMs.delete(source);
    const [oldest] = this.#fullAtMs.keys();
    if (this.#fullAtMs.size >= this.#maxSources && oldest !== undefined) this.#fullAtMs.delete(oldest);
  }
}
