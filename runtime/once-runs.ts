import type { PendingEffect } from "./pending-effect.js";

/** Runs under way that are not made again, and who waits until the results of all of them are taken. */
export class OnceRuns {
  readonly #underWay = new Set<PendingEffect>();
  #waiting: (() => void)[] = [];

  add(pending: PendingEffect): void {
    this.#underWay.add(pending);
  }

  /** Its result is taken, or wanted no more. */
  delete(pending: PendingEffect): void {
    if (this.#underWay.delete(pending) && this.#underWay.size === 0) this.clear();
  }

  /** None of them is waited for any more. */
  clear(): void {
    this.#underWay.clear();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when there are none. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#underWay.size === 0) resolve();
      else this.#waiting.push(resolve);
    });
  }
}
