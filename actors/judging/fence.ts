/**
 * A text for a model, in which our own lines can be told from everything else. Each line of ours begins with a mark that
 * is drawn for this text alone; what others wrote cannot hold it. So no text can end its part, or begin another.
 */
export class FencedText {
  readonly #parts: string[] = [];

  /** `mark` is of at least 16 characters, drawn for this text. */
  constructor(readonly mark: string) {
    if (!/^[0-9a-f]{16,64}$/.test(mark)) throw new Error("a mark is 16 to 64 hex digits");
  }

  /** A line of ours. It is made of our own words and numbers only. */
  line(words: string): this {
    this.#parts.push(`${this.mark} ${words}`);
    return this;
  }

  /** A text that somebody else wrote. */
  text(untrusted: string): this {
    const text = this.fenced(untrusted);
    if (text !== "") this.#parts.push(text);
    return this;
  }

  /** The text as it stands within the fence, which is never longer. */
  fenced(untrusted: string): string {
    // What is left on both sides of a mark must not make another: a mark has no space.
    return untrusted.replaceAll(this.mark, " ");
  }

  toString(): string {
    return this.#parts.join("\n");
  }
}
