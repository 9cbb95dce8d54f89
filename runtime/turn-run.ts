import type { RuntimeOptions } from "./runtime.js";

/** Most turns in a run. A batch with as many is not kept open for those that are ready. */
export const TURNS_PER_RUN = 256;
/** The time in which turns of a run begin, in milliseconds; one always does. */
const RUN_MS = 0.5;
/** The same while several parties are about. */
const SHARED_RUN_MS = 0.05;

/** The turns that are taken before the event loop goes on. Without a clock their number alone is bounded. */
export class TurnRun {
  readonly #elapsedMs: () => number;
  readonly #endMs: number;
  #turns = 0;

  constructor({ elapsedMs = () => 0, isShared }: Pick<RuntimeOptions, "elapsedMs" | "isShared">) {
    this.#elapsedMs = elapsedMs;
    this.#endMs = elapsedMs() + (isShared?.() === true ? SHARED_RUN_MS : RUN_MS);
  }

  /** Counts a turn; false when the run is over. */
  mayTake(): boolean {
    if (this.#turns === TURNS_PER_RUN || (this.#turns > 0 && this.#elapsedMs() >= this.#endMs)) return false;
    this.#turns += 1;
    return true;
  }
}
