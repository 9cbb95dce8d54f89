import { createInterface, type Interface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";

/** An output that may be a terminal. */
type Output = Writable & { readonly isTTY?: boolean };

/** Asks one question at a time in a terminal, and keeps other output off the line of an open question. */
export class PromptLine {
  readonly #input: Readable;
  readonly #output: Output;
  #open: Interface | null = null;
  /** Whether the cursor is on the question's line. */
  #isShown = false;

  constructor(input: Readable, output: Output) {
    this.#input = input;
    this.#output = output;
  }

  /**
   * Writes a question and reads a line; null at the end of the input and after Ctrl+C. If the signal aborts, rejects.
   * Output that follows starts on a new line.
   */
  async ask(question: string, signal?: AbortSignal): Promise<string | null> {
    const reader = createInterface({ input: this.#input, output: this.#output });
    this.#open = reader;
    this.#isShown = true;
    // If the question is aborted, the reader itself ends the question's line.
    const withdraw = (): void => {
      this.#isShown = false;
    };
    signal?.addEventListener("abort", withdraw);
    try {
      const closed = new Promise<null>((resolve) => reader.once("close", () => resolve(null)));
      const answer = await Promise.race([
        reader.question(`${question} `, signal === undefined ? {} : { signal }),
        closed,
      ]);
      if (answer !== null) this.#isShown = false;
      return answer;
    } finally {
      signal?.removeEventListener("abort", withdraw);
      this.#leave();
      this.#open = null;
      reader.close();
    }
  }

  /**
   * Writes a line to a stream. If the stream is a terminal with an open question, writes the line below the question.
   * Then shows the question again, with the text that the person has typed.
   */
  write(stream: Output, line: string): void {
    const reader = this.#open;
    if (reader !== null && stream.isTTY === true && this.#isShown) {
      this.#leave();
      setImmediate(() => this.#showAgain(reader));
    }
    stream.write(`${line}\n`);
  }

  /** Starts a new line if the cursor is on the question's line. */
  #leave(): void {
    if (this.#isShown) this.#output.write("\n");
    this.#isShown = false;
  }

  #showAgain(reader: Interface): void {
    if (this.#open !== reader || this.#isShown) return;
    this.#isShown = true;
    // The other output is now below the earlier lines of a long answer. Reset the row count, so that the reader does
    // not move back to those lines.
    Object.assign(reader, { prevRows: 0 });
    reader.prompt(true);
  }
}
