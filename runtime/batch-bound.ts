import type { Batch } from "./batch.js";
import type { Overlays } from "./overlays.js";
import type { RuntimeLimits, RuntimeOptions } from "./runtime.js";

/** Rows that a batch changes before no further turn joins it: a commit encodes and puts so many in a few milliseconds. */
const MAX_ROWS = 1_024;

/** Most turns in a batch while several parties are about: what a commit does in one go takes a tenth of a millisecond. */
const SHARED_TURNS = 16;
/** The same for each millisecond that the last flush took, if that is more. */
const SHARED_TURNS_A_MS = 8;

/**
 * How many turns a batch may have, and rows, and how long flushes take. While several parties are about it has few, so that the
 * event loop is not held for long by what a commit does in one go. The slower flushes are the more turns share one: they
 * never let through fewer than {@link SHARED_TURNS_A_MS} a millisecond.
 */
export class BatchBound {
  readonly #limit: number;
  readonly #overlays: Pick<Overlays, "openRows">;
  readonly #isShared: () => boolean;
  readonly #elapsedMs: () => number;
  #begunMs = 0;
  #flushMs = 0;

  constructor(
    { turnsPerBatch }: RuntimeLimits,
    overlays: Pick<Overlays, "openRows">,
    { isShared, elapsedMs }: RuntimeOptions,
  ) {
    this.#limit = turnsPerBatch;
    this.#overlays = overlays;
    this.#isShared = isShared ?? (() => false);
    this.#elapsedMs = elapsedMs ?? (() => performance.now());
  }

  /** Whether a further turn may join the batch that is open now. */
  hasRoom({ turns }: Pick<Batch, "turns">): boolean {
    return turns < this.#turns && this.#overlays.openRows < MAX_ROWS;
  }

  get #turns(): number {
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
