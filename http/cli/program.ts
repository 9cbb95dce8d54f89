import { Command, CommanderError } from "commander";
import { readRelease } from "../wire/release.js";
import { addAccountCommands } from "./account/account.commands.js";
import { addAssistantCommands } from "./assistants/assistants.commands.js";
import { CommandTree, type Frame } from "./command/define-command.js";
import { exitCodes } from "./command/exit-codes.js";
import type { ProcessParts } from "./command/terminal.js";
import { addConfigurationCommands } from "./configuration/configuration.commands.js";
import { addConnectionCommands } from "./connections/connections.commands.js";
import { addDevCommands } from "./dev/dev.commands.js";
import { addHookCommands } from "./hooks/hooks.commands.js";
import { addMeasuringCommands } from "./measuring/measuring.commands.js";
import { addSetupCommands } from "./setup/setup.commands.js";
import { addStatusCommands } from "./status/status.commands.js";
import { addWorkCommands } from "./work/work.commands.js";

/*
 * The command `signalbox`. The commands for people and programs share one frame (`command/`). The programs below parse
 * their own arguments. Code is loaded only when it runs.
 */

interface Program {
  readonly summary: string;
  readonly load: () => Promise<unknown>;
}

const programs = {
  runner: {
    summary: "run the agents of a service on this machine",
    load: () => import("../runner/main.js"),
  },
  check: {
    summary: "replay past runs with a planned change, and fail if it does worse",
    load: () => import("./check/main.js"),
  },
  backup: {
    summary: "back up a store, also while the service runs",
    load: () => import("./store/backup.js"),
  },
  restore: {
    summary: "restore a backup into an empty folder",
    load: () => import("./store/restore.js"),
  },
  "dead-letters": {
    summary: "list dead letters, or retry one",
    load: () => import("./store/dead-letters.js"),
  },
  doctor: {
    summary: "check a stopped service's store or a backup for damage, and repair it",
    load: () => import("./store/doctor.js"),
  },
  compact: {
    summary: "shrink a stopped service's store file",
    load: () => import("./store/compact.js"),
  },
  "rebuild-directory": {
    summary: "rebuild the index of ids, tokens and members in a stopped service's store",
    load: () => import("./store/rebuild-directory.js"),
  },
  "recount-bodies": {
    summary: "recount references to large bodies in a stopped service's store",
    load: () => import("./store/recount-bodies.js"),
  },
} satisfies Readonly<Record<string, Program>>;

/** The programs on a store. */
const operating = [
  "backup",
  "restore",
  "dead-letters",
  "doctor",
  "compact",
  "rebuild-directory",
  "recount-bodies",
] as const;

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
    // The words after `--` are the line that a shell completes.
    const isHelp = args[1] === "--help" || args[2] === "--help";
    if (args[0] === "complete" && (args[1] === "--" || !isHelp)) await addCompletion(program);
    else addCompletionHelp(program);
    await program.parseAsync(withoutHelpOfUnknown(program, toHelpOption(args)), { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
}

/** Converts `help task open` to `task open --help`. */
function toHelpOption(args: readonly string[]): readonly string[] {
  const [first, ...words] = args;
  return first === "help" ? [...words.filter((word) => word !== "--help"), "--help"] : args;
}

/**
 * Removes `--help` after an unknown command. Otherwise commander shows the help of the group and reports success; without
 * it, commander names the command that is unknown.
 */
function withoutHelpOfUnknown(program: Command, args: readonly string[]): readonly string[] {
  let command = program;
  for (const word of args) {
    if (word.startsWith("-") || command.commands.length === 0) return args;
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) return args.filter((each) => each !== "--help");
    command = next;
  }
  return args;
}

/** Adds `complete` to the list of commands, with its own help. */
function addCompletionHelp(program: Command): void {
  program
    .commandsGroup("Start:")
    .command("complete [shell]")
    .summary("print a script that completes commands in a shell: bash, zsh, fish or powershell")
    .description("Print a script that completes commands and options in a shell: bash, zsh, fish or powershell.")
    .addHelpText(
      "after",
      "\nLoad the script once, in the shell's startup file. For bash it needs the package bash-completion, loaded before.\n" +
        "\nExample:\n  source <(signalbox complete bash)",
    );
}

/** Adds `complete`, which prints a shell's completion script and answers its questions. */
async function addCompletion(program: Command): Promise<void> {
  const { default: complete } = await import("@bomb.sh/tab/commander");
  complete(program);
}

/** Creates the program with all commands. */
export function createProgram(frame: Frame): Command {
  const { terminal } = frame;
  const program = new Command("signalbox")
    .description("A self-hosted control plane for agent work.")
    .version(readRelease(), "--version", "print the version")
    .helpOption("--help", "show help")
    .enablePositionalOptions()
    .exitOverride()
    .addHelpText("after", "\nExit codes: 0 done, 1 failed, 3 no service or not signed in, 64 wrong arguments.")
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
      outputError: (text, write) => write(text.trimEnd().replaceAll("\n", " ")),
    });
  addCommands(program, new CommandTree(program, frame));
  return program;
}

/** Adds the commands in groups, which `--help` shows in this order. */
function addCommands(program: Command, tree: CommandTree): void {
  program.commandsGroup("Start:");
  addDevCommands(tree);
  addServe(program);
  addProgram(program, "runner");
  addAccountCommands(tree);
  program.helpCommand("help [command]", "show the help of a command");
  program.commandsGroup("Work:");
  addWorkCommands(tree);
  addAssistantCommands(tree);
  program.commandsGroup("Hooks and connections:");
  addHookCommands(tree);
  addConnectionCommands(tree);
  program.commandsGroup("Configuration:");
  addConfigurationCommands(tree);
  addSetupCommands(tree);
  program.commandsGroup("Measure:");
  addMeasuringCommands(tree);
  addProgram(program, "check");
  program.commandsGroup("Operate:");
  addStatusCommands(tree);
  for (const name of operating) addProgram(program, name);
}

function addProgram(program: Command, name: keyof typeof programs): void {
  const { summary, load } = programs[name];
  program
    .command(`${name} [arguments...]`)
    .summary(summary)
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async () => {
      // The program finds its arguments in the usual place, without the command's name.
      process.argv.splice(2, process.argv.length, ...program.args.slice(1));
      await load();
    });
}

function addServe(program: Command): void {
  program
    .command("serve")
    // A separate option, so that the table of settings is loaded only for `--help`.
    .helpOption(false)
    .option("--help", "show help")
    .option(
      "--read-only",
      "serve a restored copy read-only: reads and sign-in; the log has the sign-in link, and nothing is sent",
    )
    .summary("start the service")
    .description("Start the service. Its settings are environment variables.")
    .action(async ({ help }: { readonly help?: true }, serve: Command) => {
      if (help !== true) return void (await import("../process/main.js"));
      const { settingsHelp } = await import("../process/settings-help.js");
      serve.addHelpText("after", `\n${settingsHelp()}`).help();
    });
}
