import { createHash } from "node:crypto";

/** The events of one run as lines. The same seed produces the same lines. */
export class History {
  readonly #hash = createHash("sha256");
  readonly lines: string[] = [];
  readonly #keeps: boolean;

  constructor(options: { readonly keepsLines: boolean }) {
    this.#keeps = options.keepsLines;
  }

  note(line: string): void {
    this.#hash.update(`${line}\n`);
    if (this.#keeps) this.lines.push(line);
  }

  digest(): string {
    return this.#hash.copy().digest("hex");
  }
}
