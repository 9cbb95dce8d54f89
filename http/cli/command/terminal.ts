import { text } from "node:stream/consumers";
import { onEndSignal } from "../../wire/end-signals.js";
import { askHidden } from "./ask-hidden.js";
import { CommandError, exitCodes } from "./exit-codes.js";
import { type Colour, createPainter, toLines } from "./printable.js";
import { PromptLine } from "./prompt-line.js";

/**
 * Where a command reads and writes. Text for a person may contain untrusted text. So `print`, `note` and `ask` remove
 * control characters, except line breaks, tabs and the styles of `paint`.
 */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that the command runs in. */
  readonly folder: string;
  /**
   * Writes a question to standard error and reads a line; returns null at the end of the input. `ask` itself is null if
   * nobody can answer, because standard input or standard error is no terminal. Commands use `ask.ts` instead.
   */
  readonly ask: ((question: string, signal?: AbortSignal) => Promise<string | null>) | null;
  /** Like {@link ask}, but does not show what the person types. Null if standard input is no terminal. */
  readonly askHidden: ((question: string, signal?: AbortSignal) => Promise<string | null>) | null;
  /** Reads standard input to its end. */
  readInput(): Promise<string>;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Characters in a line. */
  readonly columns: number;
  /**
   * Writes a line of the result to standard output. If the write fails, the process ends:
   *
   * - with the error message `ifLost`, if this or an earlier call passed one
   * - otherwise without an error, if the program that reads the output, such as `head`, has ended
   * - otherwise with an error
   */
  print(line: string, ifLost?: string): void;
  /** Writes text to standard output as it is. Only for programs: use it only if standard output is no terminal. */
  write(text: string): void;
  /** Writes a line for the person (progress, warnings, hints) to standard error. */
  note(line: string): void;
  /**
   * Applies a colour or style to text for `print`, `note` and `ask`. Returns the text unchanged if colours are off, for
   * example because of `NO_COLOR`.
   */
  paint(colour: Colour, text: string): string;
}

/** The value of `columns` when standard output is no terminal. */
const WIDE = 120;
/** The value of `columns` for a terminal whose width is not known. */
const NARROW = 80;

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { env, stdin, stdout, stderr } = process;
  const isTerminal = stdout.isTTY === true;
  const painter = hasColours(env, isTerminal) ? createPainter() : null;
  const toShown = painter?.show ?? toLines;
  const prompt = new PromptLine(stdin, stderr);
  let lost: string | null = null;
  const endUnwritten = (error: unknown): never => {
    const isReaderGone = error instanceof Error && "code" in error && error.code === "EPIPE";
    if (isReaderGone && lost === null) process.exit();
    const why = error instanceof Error ? error.message : String(error);
    prompt.write(stderr, toShown(`error: ${lost ?? "the output is lost"}: cannot write to standard output: ${why}`));
    process.exit(exitCodes.failed);
  };
  stdout.on("error", endUnwritten);
  return {
    askHidden: stdin.isTTY === true ? (question, signal) => askHidden(toShown(question), signal) : null,
    env,
    folder: process.cwd(),
    ask:
      stdin.isTTY === true && stderr.isTTY === true
        ? (question, signal) => prompt.ask(toShown(question), signal)
        : null,
    readInput: () => text(stdin),
    isTerminal,
    columns: isTerminal ? stdout.columns || Number(env.COLUMNS) || NARROW : WIDE,
    print: (line, ifLost) => {
      lost = ifLost ?? lost;
      try {
        prompt.write(stdout, toShown(line));
      } catch (error) {
        // In some versions of Node, a write to a full disk throws. Handle this error like the error of any other failed
        // write.
        endUnwritten(error);
      }
    },
    write: (text) => void stdout.write(text),
    note: (line) => prompt.write(stderr, toShown(line)),
    paint: painter?.paint ?? ((_colour, text) => text),
  };
}

/** The signals that interrupt a command. */
export interface Interruption {
  /** Aborts with a {@link CommandError} as its reason. */
  readonly signal: AbortSignal;
  /**
   * Sets the function that handles further interruptions. The function gets 2 for the second interruption, and so on.
   */
  readonly onAgain: (act: (times: number) => void) => void;
  /** Stops listening for the signals. */
  readonly end: () => void;
}

/** The parts of the process that its commands share. */
export interface ProcessParts {
  readonly terminal: Terminal;
  /** Starts to listen for the signals that interrupt a command. */
  readonly interruption: () => Interruption;
}

/** Listens for SIGINT and SIGTERM. By default, a second interruption ends the process at once. */
export function listenForSignals(): Interruption {
  const interrupted = new AbortController();
  let act: (times: number) => void = () => process.exit(exitCodes.interrupted);
  const stop = onEndSignal((times) => {
    if (times > 1) act(times);
    else interrupted.abort(new CommandError("interrupted", exitCodes.interrupted));
  });
  return {
    signal: interrupted.signal,
    onAgain: (given) => {
      act = given;
    },
    end: () => {
      act = () => undefined;
      stop();
    },
  };
}

/**
 * Whether to print colours: follows `NO_COLOR` (https://no-color.org) and `FORCE_COLOR`; otherwise prints colours in a
 * terminal.
 */
function hasColours(env: Terminal["env"], isTerminal: boolean): boolean {
  if ((env.NO_COLOR ?? "") !== "") return false;
  if ((env.FORCE_COLOR ?? "") !== "") return env.FORCE_COLOR !== "0";
  return isTerminal && env.TERM !== "dumb";
}
