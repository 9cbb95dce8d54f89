import type { Scheduler } from "../clock.js";
import type { Answer } from "../turns/batch.js";
import { Queue } from "./queue.js";

/** Number of answers to send before the event loop continues. Handling an answer costs its asker about 20 µs. */
const AT_ONCE = 2;
/**
 * Number of answers to send before the event loop continues, while only one client is active. This number is higher
 * than {@link AT_ONCE}, because one round of the event loop costs as much as one answer.
 */
const AT_ONCE_ALONE = 16;

/**
 * Sends the answers of durable batches in order, a few in each round of the event loop. Sending a large batch at once
 * would block the event loop for milliseconds, including the work that the askers do with the answers.
 */
export class ReleasedAnswers {
  readonly #scheduler: Scheduler;
  readonly #isShared: () => boolean;
  readonly #left = new Queue<Answer>();
  #isPlanned = false;

  /** `isShared` returns whether several clients are active; by default always true. */
  constructor(scheduler: Scheduler, isShared: () => boolean = () => true) {
    this.#scheduler = scheduler;
    this.#isShared = isShared;
  }

  /**
   * Queues answers and sends them. With `isLater`, sends them after the work that is already deferred, such as the
   * commit of the next batch. The askers then work during the flush of that batch, which raises the throughput of a
   * single client.
   */
  release(answers: readonly Answer[], { isLater = false } = {}): void {
    for (const answer of answers) this.#left.push(answer);
    if (this.#isPlanned) return;
    if (isLater) this.#plan();
    else this.#give();
  }

  /** Sends all remaining answers at once. Call this at shutdown, when there is no other work to delay. */
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
