import type { RunnerMessage } from "../../../actors/runners/protocol.js";

/**
 * Maximum number of unacknowledged messages, and maximum characters of their JSON, before senders wait. A run's report
 * never waits.
 */
export const OUTBOX_CAPACITY = 1_000;
export const OUTBOX_CHARACTERS = 16 * 1024 * 1024;

interface QueuedMessage {
  readonly message: RunnerMessage;
  readonly characters: number;
}

/** The unacknowledged messages, by number. */
export class Outbox {
  readonly #messages = new Map<number, QueuedMessage>();
  readonly #waiters = new Set<() => void>();
  #last = 0;
  #characters = 0;
  #closed = false;

  /** Adds a message and returns its number. */
  add(message: RunnerMessage): number {
    this.#last += 1;
    const characters = JSON.stringify(message).length;
    this.#characters += characters;
    this.#messages.set(this.#last, { message, characters });
    return this.#last;
  }

  /** The messages, in the order in which they were added. */
  get entries(): readonly { readonly n: number; readonly message: RunnerMessage }[] {
    return [...this.#messages].map(([n, { message }]) => ({ n, message }));
  }

  /** Removes the messages up to a number. */
  acknowledged(upTo: number): void {
    for (const [n, { characters }] of this.#messages) {
      if (n > upTo) break;
      this.#characters -= characters;
      this.#messages.delete(n);
    }
    this.#wake();
  }

  /** Resolves when the outbox is below its limits, when `signal` is aborted, or when the outbox is closed. */
  waitForCapacity(signal: AbortSignal): Promise<void> {
    return this.#until(() => this.#hasCapacity || signal.aborted, signal);
  }

  /** Resolves when all messages are acknowledged, or when the outbox is closed. */
  settled(): Promise<void> {
    return this.#until(() => this.#messages.size === 0);
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  get #hasCapacity(): boolean {
    return this.#messages.size < OUTBOX_CAPACITY && this.#characters < OUTBOX_CHARACTERS;
  }

  async #until(holds: () => boolean, signal?: AbortSignal): Promise<void> {
    while (!holds() && !this.#closed) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiters.delete(wake);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        this.#waiters.add(wake);
        signal?.addEventListener("abort", wake);
      });
    }
  }

  #wake(): void {
    for (const wake of [...this.#waiters]) wake();
  }
}
