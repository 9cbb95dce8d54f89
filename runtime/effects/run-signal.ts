/**
 * Tells an effect's run to end early. This is a small subset of `AbortSignal`. It costs a fraction of an `AbortSignal`,
 * which matters because every run has one.
 */
export interface RunSignal {
  readonly aborted: boolean;
  /** The error that aborted the run; undefined before the abort. */
  readonly reason: unknown;
  /** Calls the listener once, on abort. Does not call it if the run is already aborted. */
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A signal that its owner can abort. */
export class RunAbort implements RunSignal {
  reason: unknown = undefined;
  #aborted = false;
  readonly #listeners: (() => void)[] = [];

  get aborted(): boolean {
    return this.#aborted;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const index = this.#listeners.indexOf(listener);
    if (index >= 0) this.#listeners.splice(index, 1);
  }

  abort(reason: Error): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners.splice(0)) listener();
  }
}
