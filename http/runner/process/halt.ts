import type { Clock } from "../../../runtime/clock.js";

/** How long programs have to end after they are asked to, in milliseconds. */
export const KILL_GRACE_MS = 5_000;

/** The end of a run's programs, decided from outside: first they are asked to end, after a grace time they are killed. */
export class Halt {
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #kill = new AbortController();
  #cancelGrace: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborted when programs must end. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborted when they are to be gone at once. */
  get killing(): AbortSignal {
    return this.#kill.signal;
  }

  stop(): void {
    if (this.stopping.aborted) return;
    this.#stop.abort();
    this.#cancelGrace = this.#clock.at(this.#clock.now() + KILL_GRACE_MS, () => this.#kill.abort());
  }

  kill(): void {
    this.#cancelGrace();
    this.#stop.abort();
    this.#kill.abort();
  }

  /** Nothing runs any more: the grace time need not be waited for. */
  over(): void {
    this.#cancelGrace();
  }
}
