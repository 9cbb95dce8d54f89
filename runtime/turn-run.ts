/** Most turns in a run. A batch with as many is not kept open for those that are ready. */
export const TURNS_PER_RUN = 256;
/** Length of a run, in milliseconds, and turns between two looks at the time. */
const RUN_MS = 0.5;
const TURNS_PER_LOOK = 4;

/** The turns that are taken before the event loop goes on. Without a clock their number alone is bounded. */
export class TurnRun {
  readonly #elapsedMs: () => number;
  readonly #endMs: number;
  #turns = 0;

  constructor(elapsedMs: () => number = () => 0) {
    this.#elapsedMs = elapsedMs;
    this.#endMs = elapsedMs() + RUN_MS;
  }

  /** Counts a turn; false when the run is over. */
  mayTake(): boolean {
    const isLook = this.#turns > 0 && this.#turns % TURNS_PER_LOOK === 0;
    if (this.#turns === TURNS_PER_RUN || (isLook && this.#elapsedMs() >= this.#endMs)) return false;
    this.#turns += 1;
    return true;
  }
}
