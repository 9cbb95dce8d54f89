import type { RuntimeOptions } from "./runtime.js";

/** Most turns in a run. A batch with as many is not kept open for those that are ready. */
export const TURNS_PER_RUN = 256;
/** The time in which turns of a run begin, in milliseconds, unless it is said otherwise; one always does. */
const RUN_MS = 0.5;

/** The turns that are taken before the event loop goes on. Without a clock their number alone is bounded. */
export class TurnRun {
  readonly #elapsedMs: () => number;
  readonly #endMs: number;
  #turns = 0;

  constructor({ elapsedMs = () => 0, turnRunMs = () => RUN_MS }: Pick<RuntimeOptions, "elapsedMs" | "turnRunMs">) {
    this.#elapsedMs = elapsedMs;
    this.#endMs = elapsedMs() + turnRunMs();
  }

  /** Counts a turn; false when the run is over. */
  mayTake(): boolean {
    if (this.#turns === TURNS_PER_RUN || (this.#turns > 0 && this.#elapsedMs() >= this.#endMs)) return false;
    this.#turns += 1;
    return true;
  }
}
