import { MAX_OUTPUT_CHARACTERS } from "../../actors/runners/protocol.js";
import { type Launch, ProcessGroup } from "./process-group.js";

export interface CommandResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** Standard output and error as they came, the end of them. */
  readonly output: string;
}

/** Runs a shell command to its end; `signal` ends it and everything it started. */
export async function runShell(
  command: string,
  where: Omit<Launch, "argv">,
  signal: AbortSignal,
): Promise<CommandResult> {
  const group = await ProcessGroup.start({ ...where, argv: ["/bin/sh", "-c", command] });
  const tail = new Tail();
  group.child.stdin?.end();
  for (const stream of [group.stdout, group.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => tail.add(text));
  }
  const abort = () => void group.stop();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  // The shell's end is the command's, whatever it left running with the pipes open.
  group.child.once("exit", () => group.kill());
  const { exitCode } = await group.ended;
  signal.removeEventListener("abort", abort);
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
