/**
 * A text for a model that separates our own lines from untrusted text. Each of our lines starts with a random mark,
 * drawn for this text only. Untrusted text cannot contain the mark. So it can neither end its own part nor start
 * another part.
 */
export class FencedText {
  readonly #parts: string[] = [];

  /** `mark` must be 16 to 64 hex digits, drawn for this text only. */
  constructor(readonly mark: string) {
    if (!/^[0-9a-f]{16,64}$/.test(mark)) throw new Error("a mark is 16 to 64 hex digits");
  }

  /** Adds one of our own lines. `words` must consist only of our own words and numbers. */
  line(words: string): this {
    this.#parts.push(`${this.mark} ${words}`);
    return this;
  }

  /** Removes the mark from an untrusted text, and adds the text. Does not add an empty text. */
  text(untrusted: string): this {
    const text = this.fenced(untrusted);
    if (text !== "") this.#parts.push(text);
    return this;
  }

  /** Returns the text without the mark. The result is never longer than the text. */
  fenced(untrusted: string): string {
    // Replace the mark with a space, which no mark contains. Otherwise the texts before and after the mark could
    // together form a new mark.
    return untrusted.replaceAll(this.mark, " ");
  }

  toString(): string {
    return this.#parts.join("\n");
  }
}
