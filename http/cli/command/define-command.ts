import { type Command, CommanderError } from "commander";
import type { CommonOptions, Context } from "./context.js";
import { type ExitCode, exitCodes } from "./exit-codes.js";
import type { Interruption, ProcessParts } from "./terminal.js";

/** The parts that all commands of a process share. */
export interface Frame extends ProcessParts {
  /** Receives the exit code of the command that ran. */
  readonly exit: (code: ExitCode) => void;
}

/**
 * An argument of a command: a string, a list for `<names...>`, or undefined for an optional argument that is omitted.
 */
export type CommandArgument = string | readonly string[] | undefined;

/** Runs a command. Returns its exit code; undefined means success. */
export type Run<Options, Args extends readonly CommandArgument[]> = (
  context: Context,
  options: Options,
  ...args: Args
) => Promise<ExitCode | undefined | void>;

export interface CommandDefinition<Options, Args extends readonly CommandArgument[]> {
  /** The name and the arguments, such as `show [task]`. */
  readonly usage: string;
  /** One sentence without a period, for the list of commands. */
  readonly summary: string;
  /** A complete command line, shown by `--help`. */
  readonly example: string;
  /** More text for `--help`. */
  readonly details?: string;
  /**
   * Whether the command has no `--url`, `--token` and `--team`: it needs no service, or declares such options itself.
   */
  readonly isLocal?: boolean;
  /**
   * True if the command's own code handles SIGINT and SIGTERM, or if these signals end the process at once, which is
   * their default. The signal of the command's context then never aborts.
   */
  readonly handlesSignals?: boolean;
  /** Whether the command has no result to print, and so no `--json`. */
  readonly hasNoResult?: boolean;
  /** The exit code for wrong arguments. Default: 64. */
  readonly usageCode?: ExitCode;
  /** Declares the arguments' choices and the command's own options. */
  readonly declare?: (command: Command) => unknown;
  /** Loads the code, when the command runs. */
  readonly load: () => Promise<Run<Options, Args>>;
}

/** A program or a group of commands, to which commands are added. */
export class CommandTree {
  readonly #command: Command;
  readonly #frame: Frame;

  constructor(command: Command, frame: Frame) {
    this.#command = command;
    this.#frame = frame;
  }

  /** Adds a group of commands, such as `task`. */
  group(name: string, summary: string): CommandTree {
    const command = this.#command
      .command(name)
      .helpCommand(false)
      .summary(summary)
      .description(`${toSentence(summary)}.`);
    return new CommandTree(command, this.#frame);
  }

  /**
   * Adds a command with the common options: `--json` unless it has no result, and `--url`, `--token` and `--team`
   * unless it is local. Returns the command as a group, for commands under it, such as `replay show` under `replay`.
   */
  add<Options, Args extends readonly CommandArgument[] = []>(
    definition: CommandDefinition<Options, Args>,
  ): CommandTree {
    const { usage, summary, example, details, isLocal = false, hasNoResult = false, usageCode, declare } = definition;
    const command = this.#command
      .command(usage)
      .helpCommand(false)
      .summary(summary)
      .description(`${toSentence(summary)}.`);
    if (usageCode !== undefined) command.exitOverride(endWith(usageCode));
    declare?.(command);
    if (!hasNoResult) command.option("--json", "print JSON");
    if (!isLocal) {
      command
        .option("--url <url>", "address of the service (SIGNALBOX_URL)")
        .option("--token <token>", "workspace token (prefer the environment variable SIGNALBOX_TOKEN)")
        .option("--team <team>", "team: its key, <workspace>/<team>, or its id");
    }
    command.addHelpText("after", `${details === undefined ? "" : `\n${details}\n`}\nExample:\n  ${example}`);
    command.action((...given: unknown[]) => this.#run(definition, command, given.slice(0, -2) as unknown as Args));
    return new CommandTree(command, this.#frame);
  }

  async #run<Options, Args extends readonly CommandArgument[]>(
    { load, handlesSignals = false }: CommandDefinition<Options, Args>,
    command: Command,
    args: Args,
  ): Promise<void> {
    const options = command.opts<Options & CommonOptions>();
    const parts = handlesSignals ? { ...this.#frame, interruption: neverInterrupted } : this.#frame;
    // Load this only when the command runs, because it loads the client and the validation of files.
    const { runCommand } = await import("./run-command.js");
    const code = await runCommand(parts, options, async (context) => (await load())(context, options, ...args));
    this.#frame.exit(code);
  }
}

/**
 * Returns a handler for the case that the parser ends the program. The handler throws a `CommanderError`: with
 * `usageCode` for a wrong command line, and with 0 after the help or the version.
 */
export function endWith(usageCode: ExitCode): (error: CommanderError) => never {
  return ({ exitCode, code, message }) => {
    throw new CommanderError(exitCode === 0 ? exitCodes.done : usageCode, code, message);
  };
}

function neverInterrupted(): Interruption {
  return { signal: new AbortController().signal, onAgain: () => undefined, end: () => undefined };
}

function toSentence(summary: string): string {
  return summary.charAt(0).toUpperCase() + summary.slice(1);
}
