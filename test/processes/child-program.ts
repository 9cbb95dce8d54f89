import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** The programs that were started and have not ended yet. A process that exits early can kill these programs. */
export const livingPrograms = new Set<ChildProgram>();

/** A program that a test has started, with its output. */
export class ChildProgram {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  /** Resolves with the program's exit code, or with null if a signal killed the program. */
  readonly ended: Promise<number | null>;

  constructor(child: ChildProcess) {
    this.#child = child;
    // Many waits at once are allowed. Each wait adds a listener for the program's exit.
    child.setMaxListeners(100);
    let rest = "";
    const hear = (chunk: Buffer) => {
      const parts = (rest + chunk.toString("utf8")).split("\n");
      rest = parts.pop() ?? "";
      this.#lines.push(...parts);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    livingPrograms.add(this);
    this.ended = once(child, "exit").then(([code]) => {
      livingPrograms.delete(this);
      return code as number | null;
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Whether the program has neither exited nor been killed. */
  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** All lines of the program's output. */
  get output(): readonly string[] {
    return this.#lines;
  }

  /**
   * Waits until a line of the output matches. Resolves with the match in the last such line. Rejects with the program's
   * output if the program ends first.
   */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = this.#lines.map((line) => pattern.exec(line)).findLast((match) => match !== null);
      if (found !== undefined && found !== null) return found;
      if (!this.isAlive) throw new Error(`it ended with ${await this.ended}:\n${this.#lines.join("\n")}`);
      await Promise.race([once(this.#child.stdout ?? this.#child, "data"), this.ended]);
    }
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isAlive) this.#child.kill(signal);
  }

  /**
   * Sends the program a signal, and waits until the program ends. Returns the exit code, or null if a signal killed the
   * program.
   */
  end(signal: NodeJS.Signals): Promise<number | null> {
    this.signal(signal);
    return this.ended;
  }
}
