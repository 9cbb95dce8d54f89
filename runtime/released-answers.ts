import type { Answer } from "./batch.js";
import type { Scheduler } from "./clock.js";
import { Queue } from "./queue.js";

/** Answers that are given before the event loop goes on: what askers do with one takes about 20 us. */
const AT_ONCE = 2;
/** The same while one party is about: a round of the loop takes as long as an answer does. */
const AT_ONCE_ALONE = 16;

/**
 * Gives the answers of durable batches in their order, a few in each round of the event loop: those of a large batch would
 * hold the loop for milliseconds, with all that their askers do then.
 */
export class ReleasedAnswers {
  readonly #scheduler: Scheduler;
  readonly #isShared: () => boolean;
  readonly #left = new Queue<Answer>();
  #isPlanned = false;

  /** `isShared` says whether several parties are about; without it they are taken to be. */
  constructor(scheduler: Scheduler, isShared: () => boolean = () => true) {
    this.#scheduler = scheduler;
    this.#isShared = isShared;
  }

  /**
   * `isLater` has all of them wait for what is deferred already. Where that is the next batch's commit, a party alone gets
   * more done: what askers do with their answers is done while it is flushed.
   */
  release(answers: readonly Answer[], { isLater = false } = {}): void {
    for (const answer of answers) this.#left.push(answer);
    if (this.#isPlanned) return;
    if (isLater) this.#plan();
    else this.#give();
  }

  /** Gives all that are left: nobody is served any more whom they could hold up. */
  giveAll(): void {
    this.#give(Number.POSITIVE_INFINITY);
  }

  #give(most = this.#isShared() ? AT_ONCE : AT_ONCE_ALONE): void {
    for (let count = 0; count < most; count++) {
      const next = this.#left.take();
      if (next === undefined) break;
      if (next.error === null) next.asker.resolve(next.answer);
      else next.asker.reject(next.error);
    }
    this.#plan();
  }

  #plan(): void {
    this.#isPlanned = this.#left.length > 0;
    if (this.#isPlanned) this.#scheduler.defer(() => this.#give());
  }
}
