import type { ServiceMessage } from "../../../actors/runners/protocol.js";

/** A person's message to a run. */
export type PersonMessage = Pick<Extract<ServiceMessage, { type: "run.message" }>, "n" | "from" | "text">;

/** Passes a message to the agent. Resolves with true after the agent has received it, and with false if that failed. */
export type Give = (message: PersonMessage) => Promise<boolean>;

/**
 * People's messages to one run. Each message is passed to the agent once, in order. Messages that arrive before the
 * agent starts wait until it has started. The service limits their number.
 */
export class Messages {
  readonly #delivered: (n: number) => void;
  readonly #waiting: PersonMessage[] = [];
  #give: Give | null = null;
  #taken = 0;

  /** `delivered` is called with the number of each message that the agent received. */
  constructor(delivered: (n: number) => void) {
    this.#delivered = delivered;
  }

  take(message: PersonMessage): void {
    if (message.n <= this.#taken) return;
    this.#taken = message.n;
    if (this.#give === null) this.#waiting.push(message);
    else this.#pass(this.#give, message);
  }

  /** Passes waiting and later messages to `give`. Call it when the agent has started. */
  listen(give: Give): void {
    this.#give = give;
    for (const message of this.#waiting.splice(0)) this.#pass(give, message);
  }

  #pass(give: Give, message: PersonMessage): void {
    void give(message).then((isGiven) => {
      if (isGiven) this.#delivered(message.n);
    });
  }
}
