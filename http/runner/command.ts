import { MAX_OUTPUT_CHARACTERS } from "../../actors/runners/protocol.js";
import type { Halt } from "./halt.js";
import { type Launch, ProcessGroup } from "./process-group.js";

export interface CommandResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** Standard output and error as they came, the end of them. */
  readonly output: string;
}

export interface CommandRun extends Omit<Launch, "argv"> {
  /** Ends the command and everything it started. */
  readonly halt: Halt;
  /** Told of the command's process before anything else. */
  readonly started: (group: ProcessGroup) => Promise<void>;
}

/** Runs a shell command to its end, which is also the end of what it left running. */
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

/** Keeps the end of a text that may be long. */
export class Tail {
  #text = "";

  add(text: string): void {
    this.#text = (this.#text + text).slice(-MAX_OUTPUT_CHARACTERS);
  }

  get text(): string {
    return this.#text;
  }
}
