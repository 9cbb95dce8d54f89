import type { Scheduler } from "../../runtime/clock.js";

/** A scheduler that a test drives: one call of `turn` is one turn of an event loop. */
export class DrivenScheduler implements Scheduler {
  #deferred: (() => void)[] = [];

  defer(work: () => void): void {
    this.#deferred.push(work);
  }

  /** Whether nothing is deferred. */
  get isIdle(): boolean {
    return this.#deferred.length === 0;
  }

  /**
   * Runs the work that was deferred before this call. After each item, waits until the promises that the item resolved
   * have run their callbacks, like the event loop.
   */
  async turn(): Promise<void> {
    for (const work of this.#deferred.splice(0)) {
      work();
      await settled();
    }
  }
}

/** Resolves when all code that waits only for promises has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
