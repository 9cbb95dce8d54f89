import { MAX_OUTPUT_CHARACTERS } from "../../../actors/runners/protocol.js";
import type { Halt } from "./halt.js";
import { type Launch, ProcessGroup } from "./process-group.js";

export interface CommandResult {
  /** Null if a signal ended the command. */
  readonly exitCode: number | null;
  /** The end of standard output and error, interleaved. */
  readonly output: string;
}

export interface CommandRun extends Omit<Launch, "argv"> {
  /** Ends the command and everything it started. */
  readonly halt: Halt;
  /** Called with the command's process before its end is awaited. */
  readonly started: (group: ProcessGroup) => Promise<void>;
}

/** Runs a shell command to its end, and ends the processes that it leaves running. */
export async function runShell(command: string, run: CommandRun): Promise<CommandResult> {
  const { cwd, env, mark, halt, started } = run;
  const group = await ProcessGroup.start({ argv: ["/bin/sh", "-c", command], cwd, env, mark });
  const free = group.obey(halt);
  const tail = new Tail();
  group.child.stdin?.end();
  for (const stream of [group.stdout, group.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => tail.add(text));
  }
  await started(group);
  const { exitCode } = await group.ended;
  free();
  return { exitCode, output: tail.text };
}

/**
 * Collects the end of a long text. If the start of the first line was cut off, also drops the rest of that line: a mask
 * would not find a secret without its start. Keeps the line if it is the only one.
 */
export class Tail {
  #text = "";
  #isCut = false;

  add(text: string): void {
    this.#text += text;
    // Do not shorten on every call, so that each short text does not cost a copy.
    if (this.#text.length > 2 * MAX_OUTPUT_CHARACTERS) this.#shorten();
  }

  get text(): string {
    this.#shorten();
    const end = this.#text.indexOf("\n") + 1;
    return this.#isCut && end < this.#text.length ? this.#text.slice(end) : this.#text;
  }

  #shorten(): void {
    if (this.#text.length <= MAX_OUTPUT_CHARACTERS) return;
    this.#text = this.#text.slice(-MAX_OUTPUT_CHARACTERS);
    this.#isCut = true;
  }
}
