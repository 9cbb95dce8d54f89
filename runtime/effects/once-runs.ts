import type { PendingEffect } from "./pending-effect.js";

/** Tracks running `isMadeOnce` runs, and the callers that wait until all their results are taken. */
export class OnceRuns {
  readonly #underWay = new Set<PendingEffect>();
  #waiting: (() => void)[] = [];

  add(pending: PendingEffect): void {
    this.#underWay.add(pending);
  }

  /** Call this when the run's result is taken or no longer needed. */
  delete(pending: PendingEffect): void {
    if (this.#underWay.delete(pending) && this.#underWay.size === 0) this.clear();
  }

  /** Stops waiting for all runs. */
  clear(): void {
    this.#underWay.clear();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when no such run remains. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#underWay.size === 0) resolve();
      else this.#waiting.push(resolve);
    });
  }
}
