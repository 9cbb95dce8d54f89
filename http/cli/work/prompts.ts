import { ApiError } from "../../client/entry.js";
import { ask } from "../command/ask.js";
import type { Context } from "../command/context.js";

/** A question to the person. Somebody may answer the question elsewhere first. */
interface Prompt {
  readonly id: string;
  readonly question: string;
  /** Says how to answer later. Shown to a person who ends the command without an answer. */
  readonly later: string;
  /**
   * Receives the text that the person types. If it throws an {@link ApiError}, the error is shown; other errors end the
   * command.
   */
  answer(text: string): Promise<void>;
}

/** Why an open prompt ends although nobody answered it at this terminal. */
type Withdrawal = "answered" | "paused" | "closed";

/** Asks the person one question after the other, while the command continues to show a task or run. */
export class Prompts {
  /** Rejects when the person ends the input, or when `answer` throws an error that is not an {@link ApiError}. */
  readonly failed: Promise<never>;
  readonly #context: Context;
  readonly #waiting: Prompt[] = [];
  #open: { readonly prompt: Prompt; withdrawn: Withdrawal | null; readonly ending: AbortController } | null = null;
  #isPaused = false;
  #fail: (error: unknown) => void = () => undefined;

  constructor(context: Context) {
    this.#context = context;
    this.failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    // Prevent an unhandled rejection: the promise may reject before anybody awaits it.
    this.failed.catch(() => undefined);
  }

  /** How to answer the open question later; null if there is none. */
  get later(): string | null {
    return this.#open?.prompt.later ?? null;
  }

  /** Asks a question as soon as the earlier questions are answered or removed. */
  add(prompt: Prompt): void {
    this.#waiting.push(prompt);
    this.#askNext();
  }

  /** Removes a question that no longer needs an answer. */
  remove(id: string): void {
    const at = this.#waiting.findIndex((prompt) => prompt.id === id);
    if (at >= 0) this.#waiting.splice(at, 1);
    if (this.#open?.prompt.id === id) this.#withdraw("answered");
  }

  /** Withdraws the open question until {@link resume}, because no answer can be sent. */
  pause(): void {
    this.#isPaused = true;
    this.#withdraw("paused");
  }

  /** Asks the withdrawn question again. */
  resume(): void {
    this.#isPaused = false;
    this.#askNext();
  }

  /** Removes all questions. */
  close(): void {
    this.#waiting.length = 0;
    this.#withdraw("closed");
  }

  #withdraw(why: Withdrawal): void {
    if (this.#open === null || this.#open.withdrawn !== null) return;
    this.#open.withdrawn = why;
    this.#open.ending.abort();
  }

  #askNext(): void {
    if (this.#open === null && !this.#isPaused) void this.#askAll();
  }

  async #askAll(): Promise<void> {
    while (!this.#isPaused) {
      const prompt = this.#waiting.shift();
      if (prompt === undefined) return;
      const open = { prompt, withdrawn: null as Withdrawal | null, ending: new AbortController() };
      this.#open = open;
      try {
        await this.#askOne(prompt, open.ending.signal);
      } catch (error) {
        // Keep the question open. When the command ends, it then says how to answer the question later.
        if (open.withdrawn === null) {
          open.withdrawn = "closed";
          return this.#fail(error);
        }
        if (open.withdrawn === "answered") this.#context.terminal.note("(already answered)");
        if (open.withdrawn === "paused") this.#waiting.unshift(prompt);
      }
      this.#open = null;
    }
  }

  async #askOne({ question, answer }: Prompt, ended: AbortSignal): Promise<void> {
    const { terminal } = this.#context;
    const signal = AbortSignal.any([ended, this.#context.signal]);
    const text = await ask(terminal, question, { instead: "the answer with another command", signal });
    ended.throwIfAborted();
    await answer(text).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      terminal.note(error.message);
    });
  }
}
