import type { Writable } from "node:stream";
import type { InputLine } from "./agent-lines.js";

/** Lines that a program has not read yet, at most; more are not written. */
const MAX_UNREAD_LINES = 1_000;

/**
 * A program's standard input, a JSON object a line. A program that reads nothing of it is never waited for, and what it
 * leaves unread is bounded.
 */
export class AgentInput {
  readonly #pipe: Writable | null;
  #unread = 0;

  constructor(pipe: Writable | null) {
    this.#pipe = pipe;
  }

  /** Resolves with whether the program's pipe took the line; only once it did, or never will. */
  give(line: InputLine): Promise<boolean> {
    const pipe = this.#pipe;
    if (pipe === null || this.#unread >= MAX_UNREAD_LINES) return Promise.resolve(false);
    this.#unread += 1;
    return new Promise((resolve) => {
      pipe.write(`${JSON.stringify(line)}\n`, (error) => {
        this.#unread -= 1;
        resolve(error === null || error === undefined);
      });
    });
  }
}
