import type { Scheduler } from "./clock.js";
import { Queue } from "./queue.js";

export interface LoopRoundsOptions {
  /** The event loop: it reads input between what is deferred to it and what that defers. */
  readonly loop: Scheduler;
  /** Milliseconds from any fixed point; never goes backwards. */
  readonly elapsedMs: () => number;
  /** How long work begins in one round, in milliseconds; infinity for no bound. Asked for each piece of work. */
  readonly roundMs: () => number;
}

/**
 * Defers work to the event loop in rounds: input is read between two of them.
 *
 * 1. Work begins in the order in which it was deferred, each by itself: what its promises do comes before the next.
 * 2. Once a round has lasted {@link LoopRoundsOptions.roundMs}, no more begins in it: so all kinds of work together, and
 *    not each of them, keep input waiting for that long. One piece always begins.
 */
export class LoopRounds implements Scheduler {
  readonly #options: LoopRoundsOptions;
  readonly #waiting = new Queue<() => void>();
  readonly #next = (): void => this.#beginNext();
  /** When the present round began; null between rounds. */
  #begunMs: number | null = null;

  constructor(options: LoopRoundsOptions) {
    this.#options = options;
  }

  defer(work: () => void): void {
    const { loop, roundMs } = this.#options;
    if (this.#waiting.length === 0 && roundMs() === Number.POSITIVE_INFINITY) {
      // Nothing waits that it could overtake, and nothing is to be counted: a party alone pays for neither.
      loop.defer(work);
      return;
    }
    this.#waiting.push(work);
    loop.defer(this.#next);
  }

  /** Begins the work that has waited longest, or leaves it for the next round. */
  #beginNext(): void {
    const { loop, elapsedMs, roundMs } = this.#options;
    if (this.#begunMs === null) {
      this.#begunMs = elapsedMs();
      // Before all that is deferred in this round.
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
