import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { IdleRunner } from "./idle-runner.js";

/** What is still waited for, in words; null once there is nothing. */
type FindUndone = () => Promise<string | null>;

/** A runner that does nothing (`idle-runner.ts`), in a process of its own. */
export class IdleRunnerProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  /** Why nothing is worked on any more; null while it runs. */
  #ended: string | null = null;

  constructor(runner: IdleRunner) {
    this.#child = fork(fileURLToPath(new URL("./idle-runner.js", import.meta.url)));
    this.#child.on("message", (why) => {
      this.#ended = String(why);
    });
    // After the last message.
    this.#child.on("disconnect", () => {
      this.#ended ??= "its process ended";
    });
    this.#exit = once(this.#child, "exit");
    this.#child.send(runner);
  }

  /**
   * Waits until nothing is undone, which it asks every so many milliseconds. Throws when the runner has ended before, with
   * its reason and what is undone: nobody works on that any more.
   */
  async waitFor(findUndone: FindUndone, everyMs: number): Promise<void> {
    for (let undone = await findUndone(); undone !== null; undone = await findUndone()) {
      if (this.#ended !== null) throw new Error(`The idle runner ended (${this.#ended}), and ${undone}.`);
      await pause(everyMs);
    }
  }

  /** Ends the process, if it has not ended yet. */
  async end(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#exit;
  }
}
