import { exitCodes } from "../command/exit-codes.js";

/** The exit codes that shells report for a process that a signal ended. */
export const signalCodes = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;

type Signal = keyof typeof signalCodes;

/**
 * Ends the wait at the time limit or at the first SIGINT or SIGTERM. A second signal of the same kind ends the process
 * at once.
 */
export class Ending {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #onSignal = (signal: Signal): void => {
    this.signal = signal;
    this.#stop(`The command was interrupted (${signal}).`);
  };

  /** Why the wait ended, as a sentence; null while the wait continues. */
  why: string | null = null;
  signal: Signal | null = null;
  readonly ended = this.#controller.signal;

  constructor(timeLimitMs: number) {
    const minutes = timeLimitMs / 60_000;
    this.#timer = setTimeout(() => this.#stop(`The time limit of ${minutes} minutes has passed.`), timeLimitMs);
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, this.#onSignal);
  }

  /** Removes the signal handlers and the time limit. After that, the signals have their default effect again. */
  end(): void {
    clearTimeout(this.#timer);
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, this.#onSignal);
  }

  #stop(why: string): void {
    this.why ??= why;
    this.#controller.abort();
  }
}
