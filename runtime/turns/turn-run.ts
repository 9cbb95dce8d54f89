import type { RuntimeOptions } from "../runtime.js";

/** Maximum number of turns in a run. A batch with this many turns is committed even if more actors are ready. */
export const TURNS_PER_RUN = 256;
/** Time in which turns of a run may begin, in milliseconds. At least one turn begins. */
const RUN_MS = 0.5;
/** Time in which turns of a run may begin while several clients are active, in milliseconds. */
const SHARED_RUN_MS = 0.05;

/** Counts the turns taken before the event loop continues. Without a clock, only their number is limited. */
export class TurnRun {
  readonly #elapsedMs: () => number;
  readonly #endMs: number;
  #turns = 0;

  constructor({ elapsedMs = () => 0, isShared }: Pick<RuntimeOptions, "elapsedMs" | "isShared">) {
    this.#elapsedMs = elapsedMs;
    this.#endMs = elapsedMs() + (isShared?.() === true ? SHARED_RUN_MS : RUN_MS);
  }

  /** Counts a turn. Returns false if the run is over. */
  mayTake(): boolean {
    if (this.#turns === TURNS_PER_RUN || (this.#turns > 0 && this.#elapsedMs() >= this.#endMs)) return false;
    this.#turns += 1;
    return true;
  }
}
