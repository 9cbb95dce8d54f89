import type { ServiceMessage } from "../../../actors/runners/protocol.js";

/** Something that a person says to a run. */
export type PersonMessage = Pick<Extract<ServiceMessage, { type: "run.message" }>, "n" | "from" | "text">;

/** Gives a message to the agent; resolves with whether that was done, and not before. */
export type Give = (said: PersonMessage) => Promise<boolean>;

/**
 * What people say to one run: given to its agent once each, in order. What comes before there is an agent waits for it.
 * The service bounds how many wait.
 */
export class Messages {
  readonly #delivered: (n: number) => void;
  readonly #waiting: PersonMessage[] = [];
  #give: Give | null = null;
  #taken = 0;

  /** `heard` is told up to which number the agent was given them. */
  constructor(delivered: (n: number) => void) {
    this.#delivered = delivered;
  }

  take(said: PersonMessage): void {
    if (said.n <= this.#taken) return;
    this.#taken = said.n;
    if (this.#give === null) this.#waiting.push(said);
    else this.#pass(this.#give, said);
  }

  /** There is an agent now, that takes messages by `give`. */
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
