import type { Writable } from "node:stream";
import { writeJson } from "../../../actors/exact-json.js";
import type { InputLine } from "./agent-lines.js";

/** Maximum number of lines that the program has not read yet. Further lines are dropped. */
const MAX_UNREAD_LINES = 1_000;

/**
 * A program's standard input, with one JSON object per line. It never blocks on a program that does not read it, and
 * limits the unread lines.
 */
export class AgentInput {
  readonly #pipe: Writable | null;
  #unread = 0;

  constructor(pipe: Writable | null) {
    this.#pipe = pipe;
  }

  /** Writes a line. Resolves with whether the program's pipe accepted it, once that is known. */
  give(line: InputLine): Promise<boolean> {
    const pipe = this.#pipe;
    if (pipe === null || this.#unread >= MAX_UNREAD_LINES) return Promise.resolve(false);
    this.#unread += 1;
    return new Promise((resolve) => {
      pipe.write(`${writeJson(line)}\n`, (error) => {
        this.#unread -= 1;
        resolve(error === null || error === undefined);
      });
    });
  }
}
