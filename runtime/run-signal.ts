/**
 * Tells the run of an effect that it is to end early: as much of an `AbortSignal` as runs need, at a fraction of its
 * cost, since there is one for every run.
 */
export interface RunSignal {
  readonly aborted: boolean;
  /** The error that it was aborted with; undefined before. */
  readonly reason: unknown;
  /** Calls the listener when it is aborted, once; never when it is already. */
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A signal with what aborts it. */
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
