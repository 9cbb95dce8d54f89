/** What a shell has for a process that a signal ended. */
export const signalCodes = { SIGINT: 130, SIGTERM: 143 } as const;

type Signal = keyof typeof signalCodes;

/** When the command stops waiting: at its time limit, or at the first signal. A second one ends the process at once. */
export class Ending {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #onSignal = (signal: Signal): void => {
    this.signal = signal;
    this.#stop(`The command was interrupted (${signal}).`);
  };

  /** Why it stopped, as a sentence; null while it has not. */
  why: string | null = null;
  signal: Signal | null = null;
  readonly ended = this.#controller.signal;

  constructor(timeLimitMs: number) {
    const minutes = timeLimitMs / 60_000;
    this.#timer = setTimeout(() => this.#stop(`The time limit of ${minutes} minutes is over.`), timeLimitMs);
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, this.#onSignal);
  }

  /** Signals end the process by themselves again, and there is no time limit any more. */
  end(): void {
    clearTimeout(this.#timer);
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, this.#onSignal);
  }

  #stop(why: string): void {
    this.why ??= why;
    this.#controller.abort();
  }
}
