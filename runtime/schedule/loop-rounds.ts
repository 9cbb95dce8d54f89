import type { Scheduler } from "../clock.js";
import { Queue } from "./queue.js";

export interface LoopRoundsOptions {
  /**
   * The event loop. When deferred work defers further work, the event loop reads input before it runs the further work.
   */
  readonly loop: Scheduler;
  /** Milliseconds from a fixed point; never goes backwards. */
  readonly elapsedMs: () => number;
  /**
   * Time during which work may begin in one round, in milliseconds; infinity for no limit. Called for each piece of
   * work.
   */
  readonly roundMs: () => number;
}

/**
 * Defers work to the event loop in rounds. The event loop reads input between two rounds.
 *
 * 1. Work begins in the order in which it was deferred. The promise callbacks of one piece run before the next piece.
 * 2. After a round has lasted {@link LoopRoundsOptions.roundMs}, no more work begins in it. This limit applies to all
 * kinds of work together. Each round begins at least one piece.
 */
export class LoopRounds implements Scheduler {
  readonly #options: LoopRoundsOptions;
  readonly #waiting = new Queue<() => void>();
  readonly #next = (): void => this.#beginNext();
  /** When the current round began; null between rounds. */
  #begunMs: number | null = null;

  constructor(options: LoopRoundsOptions) {
    this.#options = options;
  }

  defer(work: () => void): void {
    const { loop, roundMs } = this.#options;
    if (this.#waiting.length === 0 && roundMs() === Number.POSITIVE_INFINITY) {
      // No deferred work is waiting, and rounds have no limit, so the work needs no queue.
      loop.defer(work);
      return;
    }
    this.#waiting.push(work);
    loop.defer(this.#next);
  }

  /** Begins the oldest waiting work, or postpones it to the next round. */
  #beginNext(): void {
    const { loop, elapsedMs, roundMs } = this.#options;
    if (this.#begunMs === null) {
      this.#begunMs = elapsedMs();
      // Ends the round. The event loop calls this before it runs work that is deferred during the round.
      loop.defer(() => {
        this.#begunMs = null;
      });
    } else if (elapsedMs() - this.#begunMs >= roundMs()) {
      loop.defer(this.#next);
      return;
    }
    this.#waiting.take()?.();
  }
}
