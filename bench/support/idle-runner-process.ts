import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { IdleRunner } from "./idle-runner.js";

/** Describes the unfinished work; null if everything is finished. */
type FindUndone = () => Promise<string | null>;

/** A runner whose agents do no work (`idle-runner.ts`), in a separate process. */
export class IdleRunnerProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  /** Why the runner stopped; null while it runs. */
  #ended: string | null = null;

  constructor(runner: IdleRunner) {
    this.#child = fork(fileURLToPath(new URL("./idle-runner.js", import.meta.url)));
    this.#child.on("message", (why) => {
      this.#ended = String(why);
    });
    // Node emits `disconnect` after the last message.
    this.#child.on("disconnect", () => {
      this.#ended ??= "its process ended";
    });
    this.#exit = once(this.#child, "exit");
    this.#child.send(runner);
  }

  /**
   * Checks every `everyMs` milliseconds until all work is finished. If the runner stops first, throws with its reason
   * and the unfinished work.
   */
  async waitFor(findUndone: FindUndone, everyMs: number): Promise<void> {
    for (let undone = await findUndone(); undone !== null; undone = await findUndone()) {
      if (this.#ended !== null) throw new Error(`The idle runner ended (${this.#ended}), and ${undone}.`);
      await pause(everyMs);
    }
  }

  /** Stops the process, unless it has already exited. */
  async end(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#exit;
  }
}
