import type { Clock } from "../../../runtime/clock.js";

/** A time limit that can be paused. */
export class TimeLimit {
  readonly #clock: Clock;
  readonly #over: () => void;
  #leftMs: number;
  #sinceMs = 0;
  #cancel: (() => void) | null = null;

  /** The time limit starts at once. `over` is called when the time is up, at most once. */
  constructor(clock: Clock, ms: number, over: () => void) {
    this.#clock = clock;
    this.#leftMs = ms;
    this.#over = over;
    this.#go();
  }

  /** Pauses or resumes the clock. A repeated call changes nothing. */
  pause(isPaused: boolean): void {
    if (isPaused) this.#stand();
    else if (this.#cancel === null && this.#leftMs > 0) this.#go();
  }

  /** Cancels the limit: `over` is not called any more. */
  end(): void {
    this.#stand();
    this.#leftMs = 0;
  }

  #go(): void {
    this.#sinceMs = this.#clock.now();
    this.#cancel = this.#clock.at(this.#sinceMs + this.#leftMs, () => {
      this.#leftMs = 0;
      this.#over();
    });
  }

  #stand(): void {
    if (this.#cancel === null) return;
    this.#cancel();
    this.#cancel = null;
    this.#leftMs = Math.max(0, this.#leftMs - (this.#clock.now() - this.#sinceMs));
  }
}

/**
 * Runs `work` with a signal that is aborted when `signal` is aborted, or when the work takes longer than `ms`
 * milliseconds.
 */
export async function withinLimit<Done>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  ms: number,
  work: (signal: AbortSignal) => Promise<Done>,
): Promise<Done> {
  const limit = new AbortController();
  const cancel = clock.at(clock.now() + ms, () => limit.abort());
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } finally {
    cancel();
  }
}
