import { ApiError } from "../../client/entry.js";
import { CommandError } from "../command/exit-codes.js";
import { isList, isMap, type Value } from "./value.js";

/** What is printed in place of a secret text. */
const HIDDEN = "(sensitive value)";

/** Minimum length of a secret to replace in messages. Shorter texts are also parts of common words and line numbers. */
const SHORTEST = 3;

/** The values of sensitive variables, which are never printed. Texts are compared in Unicode form C, which HCL uses. */
export class Secrets {
  readonly #texts: readonly string[];
  readonly #pattern: RegExp | null;

  constructor(values: readonly Value[]) {
    const texts = values.flatMap(listTexts).map((text) => text.normalize("NFC"));
    this.#texts = [...new Set(texts)];
    const forms = new Set(this.#texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]));
    const long = [...forms].filter(({ length }) => length >= SHORTEST).sort((one, other) => other.length - one.length);
    const patterns = long.map((text) => (/^\d+$/.test(text) ? `(?<![\\w:])${text}(?!\\w)` : escaped(text)));
    this.#pattern = patterns.length === 0 ? null : new RegExp(patterns.join("|"), "g");
  }

  /** Whether a value contains a secret text. */
  areIn(value: Value): boolean {
    if (isList(value)) return value.some((each) => this.areIn(each));
    if (isMap(value)) return Object.entries(value).some(([name, each]) => this.areIn(name) || this.areIn(each));
    if (value === null || typeof value === "boolean") return false;
    if (typeof value !== "string") return this.#texts.includes(String(value));
    const text = value.normalize("NFC");
    return this.#texts.some((secret) => text.includes(secret));
  }

  /** Replaces the secret texts in a message, except very short ones. */
  hide(message: string): string {
    return this.#pattern === null ? message : message.normalize("NFC").replace(this.#pattern, HIDDEN);
  }

  /** Runs `work`, and removes secret texts from the errors that it throws. */
  async guard<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw this.#hidden(error);
    }
  }

  #hidden(error: unknown): unknown {
    if (error instanceof CommandError) {
      const { message, exitCode, cause } = error;
      return new CommandError(this.hide(message), exitCode, { cause: this.#hidden(cause) });
    }
    if (!(error instanceof ApiError) || error.problem === null) return error;
    const { status, problem, requestId } = error;
    const headers = new Headers(requestId === null ? [] : [["x-request-id", requestId]]);
    const text = JSON.stringify(problem, (_, value) => (typeof value === "string" ? this.hide(value) : value));
    return new ApiError("", { status, headers, text });
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function listTexts(value: Value): readonly string[] {
  if (isList(value)) return value.flatMap(listTexts);
  if (isMap(value)) return Object.values(value).flatMap(listTexts);
  return value === null || typeof value === "boolean" || value === "" ? [] : [String(value)];
}
