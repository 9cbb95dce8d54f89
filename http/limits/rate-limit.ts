import type { Clock } from "../../runtime/clock.js";

export interface RateLimitOptions {
  /** The rate: `max` per `perMs`, evenly spread. 0 for no limit. */
  readonly max: number;
  readonly perMs: number;
  /** Maximum burst after a pause. */
  readonly burst: number;
  readonly clock: Clock;
  /** Maximum number of remembered sources; 100,000 by default. */
  readonly maxSources?: number;
}

/**
 * A rate limit with bursts, per source (GCRA). Each source costs one number in memory: the time at which its allowance
 * is full again. Beyond the maximum number of sources, the limit forgets sources with a full allowance first, then the
 * oldest. A forgotten source starts again with a full allowance, so it may get more requests than the limit, never
 * fewer.
 */
export class RateLimit {
  readonly #intervalMs: number;
  readonly #burstMs: number;
  readonly #clock: Clock;
  readonly #maxSources: number;
  readonly #fullAtMs = new Map<string, number>();

  constructor({ max, perMs, burst, clock, maxSources = 100_000 }: RateLimitOptions) {
    this.#intervalMs = max === 0 ? 0 : perMs / max;
    this.#burstMs = this.#intervalMs * burst;
    this.#clock = clock;
    this.#maxSources = maxSources;
  }

  /**
   * Counts `count` requests and returns 0. If they exceed the limit together, counts none and returns the whole seconds
   * to wait. A count above the burst is never admitted.
   */
  take(source: string, count = 1): number {
    if (this.#intervalMs === 0) return 0;
    const now = this.#clock.now();
    const counted = this.#fullAtMs.get(source);
    // Ignore a time that is later than any allowance can need, because the clock was ahead when the time was stored.
    const known = counted !== undefined && counted - now > this.#burstMs + this.#intervalMs ? undefined : counted;
    const fullAtMs = Math.max(known ?? 0, now) + count * this.#intervalMs;
    const overMs = fullAtMs - now - this.#burstMs;
    // Tolerate rounding errors of fractional intervals.
    if (overMs > 0.001) return Math.max(1, Math.ceil(overMs / 1_000));
    if (counted === undefined) this.#evict(now);
    this.#fullAtMs.set(source, fullAtMs);
    return 0;
  }

  /** The number of remembered sources. */
  get size(): number {
    return this.#fullAtMs.size;
  }

  #evict(now: number): void {
    if (this.#fullAtMs.size < this.#maxSources) return;
    for (const [source, fullAtMs] of this.#fullAtMs) if (fullAtMs <= now) this.#fullAtMs.delete(source);
    const [oldest] = this.#fullAtMs.keys();
    if (this.#fullAtMs.size >= this.#maxSources && oldest !== undefined) this.#fullAtMs.delete(oldest);
  }
}
