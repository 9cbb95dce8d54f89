import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError, exitCodes } from "../../http/cli/command/exit-codes.js";
import { toLines } from "../../http/cli/command/printable.js";
import { runCommandLine } from "../../http/cli/program.js";
import type { Cleaning } from "./service.js";

/** The result of a command. */
export interface Ran {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The lines that the person types. If a line is a promise, the person types it when the promise resolves. Without
   * `answers`, the command has no terminal.
   */
  readonly answers?: Iterable<string | Promise<string>>;
  /** The text on standard input. */
  readonly input?: string;
  readonly folder?: string;
  /** The width of the terminal, in characters. Default: 100. */
  readonly columns?: number;
  /** Called with each line of standard error. */
  readonly onNote?: (line: string) => void;
  /** Interrupts the command, like Ctrl+C. */
  readonly interrupted?: AbortSignal;
  /** Called with each line that the command prints to standard output, when it prints it. */
  readonly printed?: (line: string) => void;
}

/** The command `signalbox` in this process, with a home folder of its own. */
export interface Signalbox {
  readonly home: string;
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
}

export function openSignalbox(t: Cleaning): Signalbox {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-home-")));
  t.teardown(async () => rmSync(home, { recursive: true, force: true }));
  return { home, run: (args, options) => run(home, args, options) };
}

async function run(home: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const {
    env = {},
    answers,
    input = "",
    folder = home,
    interrupted,
    onNote = () => undefined,
    printed,
    columns = 100,
  } = options;
  const out: string[] = [];
  const err: string[] = [];
  const typed = answers?.[Symbol.iterator]();
  const ended = new AbortController();
  const interrupt = () => ended.abort(new CommandError("interrupted", exitCodes.interrupted));
  if (interrupted?.aborted === true) interrupt();
  interrupted?.addEventListener("abort", interrupt);
  const isTerminal = answers !== undefined;
  const hasColour = isTerminal && env.NO_COLOR === undefined;
  const terminal = {
    env: { HOME: home, ...env },
    askHidden: isTerminal
      ? async (question: string) => {
          err.push(question);
          return (await typed?.next().value) ?? null;
        }
      : null,
    folder,
    isTerminal,
    columns,
    ask: isTerminal
      ? (question: string, signal?: AbortSignal) => {
          err.push(toLines(question));
          return unlessAborted(Promise.resolve(typed?.next().value ?? null), signal);
        }
      : null,
    readInput: async () => input,
    print: (line: string) => {
      const shown = toLines(line);
      out.push(shown);
      printed?.(shown);
    },
    write: (text: string) => void out.push(text.replace(/\n$/, "")),
    note: (line: string) => {
      const shown = toLines(line);
      err.push(shown);
      onNote(shown);
    },
    paint: (colour: string, text: string) => (hasColour ? `<${colour}>${text}</>` : text),
  };
  const code = await runCommandLine(args, {
    terminal,
    interruption: () => ({ signal: ended.signal, onAgain: () => undefined, end: () => undefined }),
  });
  interrupted?.removeEventListener("abort", interrupt);
  return { code, out: out.join("\n"), err: err.join("\n") };
}

function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason));
    if (signal?.aborted === true) reject(signal.reason);
    result.then(resolve, reject);
  });
}
