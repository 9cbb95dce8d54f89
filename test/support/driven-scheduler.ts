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

  /** Runs what was deferred before, as the event loop does: what each lets go on has run before the next. */
  async turn(): Promise<void> {
    for (const work of this.#deferred.splice(0)) {
      work();
      await settled();
    }
  }
}

/** Resolves when everything has run that was waiting for nothing but promises. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
