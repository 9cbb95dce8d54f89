import { Command, CommanderError } from "commander";
import { readRelease } from "../wire/release.js";
import { addAccountCommands } from "./account/account.commands.js";
import { CommandTree, type Frame } from "./command/define-command.js";
import { exitCodes } from "./command/exit-codes.js";
import { type Interruption, listenForSignals, processTerminal, type Terminal } from "./command/terminal.js";
import { addConnectionCommands } from "./connections/connections.commands.js";
import { addDevCommands } from "./dev/dev.commands.js";
import { addHookCommands } from "./hooks/hooks.commands.js";
import { addMeasuringCommands } from "./measuring/measuring.commands.js";
import { addStatusCommands } from "./status/status.commands.js";
import { addWorkCommands } from "./work/work.commands.js";

/*
 * The command `signalbox`. The commands for people and programs share one frame (`command/`). The programs below parse
 * their own arguments. Code is loaded only when it runs.
 */

interface Program {
  readonly says: string;
  readonly load: () => Promise<unknown>;
}

const programs: Readonly<Record<string, Program>> = {
  runner: { says: "works the runs of a service", load: () => import("../runner/main.js") },
  check: {
    says: "replays what a planned change would do to past runs, and says whether it does worse",
    load: () => import("./check/main.js"),
  },
  backup: { says: "copies a store, also while the service runs", load: () => import("./store/backup.js") },
  restore: { says: "puts a backup into an empty folder", load: () => import("./store/restore.js") },
  "dead-letters": {
    says: "lists messages that were set aside, and sends one again",
    load: () => import("./store/dead-letters.js"),
  },
  doctor: {
    says: "looks for damage in a stopped service's folder or a backup, and repairs it where it can",
    load: () => import("./store/doctor.js"),
  },
  compact: {
    says: "gives the free room in a stopped service's file back to the disk",
    load: () => import("./store/compact.js"),
  },
  "rebuild-directory": {
    says: "makes anew by which ids, tokens and members are found, in a stopped service's folder",
    load: () => import("./store/rebuild-directory.js"),
  },
  "recount-bodies": {
    says: "counts again which rows refer to large bodies, in a stopped service's folder",
    load: () => import("./store/recount-bodies.js"),
  },
};

/** What the process gives to its commands. */
export interface ProcessParts {
  readonly terminal: Terminal;
  /** Starts to listen for the signals that interrupt a command. */
  readonly interruption: () => Interruption;
}

/**
 * Runs the command line; returns its exit code. A program that parses its own arguments sets the exit code of the
 * process itself, and may still run afterwards.
 */
export async function runCommandLine(args: readonly string[], parts: ProcessParts): Promise<number> {
  let code: number = exitCodes.done;
  const frame: Frame = {
    ...parts,
    exit: (given) => {
      code = given;
    },
  };
  try {
    const program = createProgram(frame);
    if (args[0] === "complete") await addCompletion(program);
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
}

/** Adds `complete`, which prints a shell's completion script and answers its questions. */
async function addCompletion(program: Command): Promise<void> {
  const { default: complete } = await import("@bomb.sh/tab/commander");
  complete(program);
}

/** Lists the names of all commands with their groups, such as `task open`, in alphabetical order. */
export function listCommands(): readonly string[] {
  const listUnder = (command: Command, before: string): readonly string[] =>
    command.commands.flatMap((each) => {
      const name = `${before}${each.name()}`;
      // A group of commands has no options, unless it is a command too.
      const isCommand = each.commands.length === 0 || each.options.length > 0;
      return [...(isCommand ? [name] : []), ...listUnder(each, `${name} `)];
    });
  return [
    ...listUnder(
      createProgram({ terminal: processTerminal(), interruption: listenForSignals, exit: () => undefined }),
      "",
    ),
  ].sort();
}

function createProgram(frame: Frame): Command {
  const { terminal } = frame;
  const program = new Command("signalbox")
    .description("A self-hosted control plane for agent work.")
    .version(readRelease(), "--version", "says which release this is")
    .helpOption("--help", "says this, and after a command what that takes")
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed, 2 something would change, 3 no service or not signed in, 64 wrong arguments." +
        "\nShell completion: signalbox complete bash|zsh|fish|powershell prints a script to load.",
    )
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
      outputError: (text, write) => write(text.trimEnd().replaceAll("\n", " ")),
    });
  addServe(program);
  for (const [name, { says, load }] of Object.entries(programs)) {
    program
      .command(`${name} [arguments...]`)
      .summary(says)
      .helpOption(false)
      .allowUnknownOption()
      .passThroughOptions()
      .action(async () => {
        // Remove the command's name, so that the program finds its arguments in the usual place.
        process.argv.splice(process.argv.indexOf(name, 2), 1);
        await load();
      });
  }
  const tree = new CommandTree(program, frame);
  addAccountCommands(tree);
  addConnectionCommands(tree);
  addHookCommands(tree);
  addMeasuringCommands(tree);
  addWorkCommands(tree);
  addDevCommands(tree);
  addStatusCommands(tree);
  return program;
}

function addServe(program: Command): void {
  program
    .command("serve")
    // A separate option, so that the table of settings is loaded only for `--help`.
    .helpOption(false)
    .option("--help", "says this")
    .option(
      "--read-only",
      "serves a restored copy for looking: reads and sign-in, with the link in the log; nothing is sent",
    )
    .summary("starts the service")
    .description("Starts the service. Its settings are environment variables.")
    .action(async ({ help }: { readonly help?: true }, serve: Command) => {
      if (help !== true) return void (await import("../process/main.js"));
      const { settingsHelp } = await import("../process/settings-help.js");
      serve.addHelpText("after", `\n${settingsHelp()}`).help();
    });
}
