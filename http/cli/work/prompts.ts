import { ApiError } from "../../client/entry.js";
import { ask } from "../command/ask.js";
import type { Context } from "../command/context.js";

/** A question to the person. Somebody may answer it elsewhere first. */
interface Prompt {
  readonly id: string;
  readonly question: string;
  /** Receives what the person types. An {@link ApiError} that it throws is shown; other errors end the command. */
  answer(text: string): Promise<void>;
}

/** Asks one question after the other, while the command follows what happens. */
export class Prompts {
  /** Rejects when the person ends the input, or with what an answer throws. */
  readonly failed: Promise<never>;
  readonly #context: Context;
  readonly #waiting: Prompt[] = [];
  #open: { readonly id: string; readonly ending: AbortController } | null = null;
  #fail: (error: unknown) => void = () => undefined;

  constructor(context: Context) {
    this.#context = context;
    this.failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    // It may reject before anybody awaits it.
    this.failed.catch(() => undefined);
  }

  /** Asks as soon as the questions before are answered or removed. */
  add(prompt: Prompt): void {
    this.#waiting.push(prompt);
    if (this.#open === null) void this.#askAll();
  }

  /** Removes a question that no longer waits. */
  remove(id: string): void {
    const at = this.#waiting.findIndex((prompt) => prompt.id === id);
    if (at >= 0) this.#waiting.splice(at, 1);
    if (this.#open?.id === id) this.#open.ending.abort();
  }

  /** Removes all questions. */
  close(): void {
    this.#waiting.length = 0;
    this.#open?.ending.abort();
  }

  async #askAll(): Promise<void> {
    for (let prompt = this.#waiting.shift(); prompt !== undefined; prompt = this.#waiting.shift()) {
      const ending = new AbortController();
      this.#open = { id: prompt.id, ending };
      try {
        await this.#askOne(prompt, ending.signal);
      } catch (error) {
        if (!ending.signal.aborted) return this.#fail(error);
        this.#context.terminal.note("(already answered)");
      } finally {
        this.#open = null;
      }
    }
  }

  async #askOne({ question, answer }: Prompt, ended: AbortSignal): Promise<void> {
    const { terminal } = this.#context;
    const signal = AbortSignal.any([ended, this.#context.signal]);
    const text = await ask(terminal, question, { instead: "the answer with another command", signal });
    if (ended.aborted) return;
    await answer(text).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      terminal.note(error.message);
    });
  }
}
