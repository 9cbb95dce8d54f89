import type { Clock } from "../../../runtime/clock.js";

/** Time between asking programs to end and killing them, in milliseconds. */
export const KILL_GRACE_MS = 5_000;

/** Ends a run's programs: asks them to end, and kills them after a grace time. */
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

  /** Aborted when programs must be killed. */
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

  /** Cancels the grace time. Call it when no program is running any more. */
  over(): void {
    this.#cancelGrace();
  }
}
