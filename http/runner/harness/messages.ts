import type { ServiceMessage } from "../../../actors/runners/protocol.js";

/** A message of a person to a run. */
export type PersonMessage = Pick<Extract<ServiceMessage, { type: "run.message" }>, "n" | "from" | "text">;

/** Gives a message to the agent; resolves with whether the agent got it, as soon as that is known. */
export type Give = (said: PersonMessage) => Promise<boolean>;

/**
 * The messages of people to one run, each given to its agent once, in order. Messages that come before the agent starts
 * wait for it; the service bounds their number.
 */
export class Messages {
  readonly #delivered: (n: number) => void;
  readonly #waiting: PersonMessage[] = [];
  #give: Give | null = null;
  #taken = 0;

  /** `delivered` is called with the number of each message that the agent got. */
  constructor(delivered: (n: number) => void) {
    this.#delivered = delivered;
  }

  take(said: PersonMessage): void {
    if (said.n <= this.#taken) return;
    this.#taken = said.n;
    if (this.#give === null) this.#waiting.push(said);
    else this.#pass(this.#give, said);
  }

  /** The agent has started, and gets messages through `give`. */
  listen(give: Give): void {
    this.#give = give;
    for (const said of this.#waiting.splice(0)) this.#pass(give, said);
  }

  #pass(give: Give, said: PersonMessage): void {
    void give(said).then((isGiven) => {
      if (isGiven) this.#delivered(said.n);
    });
  }
}
