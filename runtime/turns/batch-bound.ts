import type { RuntimeLimits, RuntimeOptions } from "../runtime.js";
import type { Batch } from "./batch.js";
import type { Overlays } from "./overlays.js";

/**
 * Number of changed rows after which no further turn joins a batch. A commit encodes and writes this many rows in a few
 * milliseconds.
 */
const MAX_ROWS = 1_024;

/**
 * Maximum turns in a batch while several clients are active. The synchronous part of the batch's commit takes about 0.1
 * milliseconds.
 */
const SHARED_TURNS = 16;
/**
 * Number of turns per millisecond of the last flush that a batch may have while several clients are active. A batch may
 * always have {@link SHARED_TURNS}.
 */
const SHARED_TURNS_A_MS = 8;

/**
 * Limits the turns and rows of a batch, and measures the flushes. While several clients are active, batches are small,
 * so that the synchronous part of a commit does not block the event loop for long. Slower flushes allow more turns per
 * batch: {@link SHARED_TURNS_A_MS} for each millisecond of flush time.
 */
export class BatchBound {
  readonly #limit: number;
  readonly #overlays: Pick<Overlays, "openRows">;
  readonly #isShared: () => boolean;
  readonly #elapsedMs: () => number;
  #startedMs = 0;
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

  /** Whether another turn may join the open batch. */
  hasCapacity({ turns }: Pick<Batch, "turns">): boolean {
    return turns < this.#turns && this.#overlays.openRows < MAX_ROWS;
  }

  get #turns(): number {
    if (!this.#isShared()) return this.#limit;
    return Math.min(this.#limit, Math.max(SHARED_TURNS, Math.ceil(this.#flushMs * SHARED_TURNS_A_MS)));
  }

  /** Starts to measure a flush. Call this when the flush begins. */
  begin(): void {
    this.#startedMs = this.#elapsedMs();
  }

  /** Ends the measurement of a flush, and returns its duration in milliseconds. Call this when the flush ends. */
  flushed(): number {
    this.#flushMs = this.#elapsedMs() - this.#startedMs;
    return this.#flushMs;
  }
}
