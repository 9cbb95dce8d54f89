import { Command, CommanderError, Help, type Option } from "commander";
import { readRelease } from "../wire/release.js";
import { addAccountCommands } from "./account/account.commands.js";
import { addAssistantCommands } from "./assistants/assistants.commands.js";
import { addCheckCommand } from "./check/check.commands.js";
import { CommandTree, endWith, type Frame } from "./command/define-command.js";
import { exitCodes } from "./command/exit-codes.js";
import type { ProcessParts } from "./command/terminal.js";
import { addConfigurationCommands } from "./configuration/configuration.commands.js";
import { addConnectionCommands } from "./connections/connections.commands.js";
import { addDevCommands } from "./dev/dev.commands.js";
import { addHookCommands } from "./hooks/hooks.commands.js";
import { addMeasuringCommands } from "./measuring/measuring.commands.js";
import { addRunnerCommand } from "./runner/runner.commands.js";
import { addSetupCommands } from "./setup/setup.commands.js";
import { addStatusCommands } from "./status/status.commands.js";
import { addStoreCommands } from "./store/store.commands.js";
import { addWorkCommands } from "./work/work.commands.js";

/*
 * The command `signalbox`. The folder `command/` contains the code that all commands share. The code of a command is
 * loaded when that command runs.
 */

/**
 * Runs the command line; returns its exit code. `serve` and `runner` continue to run after this function returns, and
 * set the exit code of the process when they end.
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
    // After `complete --`, the words are the command line that a shell completes. So a `--help` among them does not ask
    // for the help of `complete`.
    const isHelp = args[1] === "--help" || args[2] === "--help";
    if (args[0] === "complete" && (args[1] === "--" || !isHelp)) {
      const { addCompletion } = await import("./command/completion.js");
      addCompletion(program, frame.terminal);
    } else addCompletionHelp(program);
    await program.parseAsync(withoutHelpOfUnknown(program, toHelpOption(args)), { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode;
  }
}

/** Converts `help task open` to `task open --help`. */
function toHelpOption(args: readonly string[]): readonly string[] {
  const [first, ...words] = args;
  return first === "help" ? [...words.filter((word) => word !== "--help"), "--help"] : args;
}

/**
 * Removes `--help` after an unknown command, so that commander says which command is unknown. Otherwise commander would
 * show the help of the group and report success.
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

/** Creates the program with all commands. */
export function createProgram(frame: Frame): Command {
  const { terminal } = frame;
  const program = new Command("signalbox")
    .description("A self-hosted control plane for agent work.")
    .version(readRelease(), "--version", "print the version")
    .helpOption("--help", "show help")
    .enablePositionalOptions()
    .exitOverride(endWith(exitCodes.usage))
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed, 2 plan has changes, 3 no service or not signed in, 64 wrong arguments.",
    )
    .configureHelp({ optionDescription: describeOption })
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
      outputError: (text, write) => write(text.trimEnd().replaceAll("\n", " ")),
    });
  addCommands(program, new CommandTree(program, frame));
  return program;
}

/** Describes an option as commander does, and marks a required one. */
function describeOption(option: Option): string {
  const description = Help.prototype.optionDescription(option);
  return option.mandatory && option.defaultValue === undefined ? `${description} (required)` : description;
}

/** Adds the commands in groups, which `--help` shows in this order. */
function addCommands(program: Command, tree: CommandTree): void {
  program.commandsGroup("Start:");
  addDevCommands(tree);
  addServe(program);
  addRunnerCommand(tree);
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
  addCheckCommand(tree);
  program.commandsGroup("Operate:");
  addStatusCommands(tree);
  addStoreCommands(tree);
}

function addServe(program: Command): void {
  program
    .command("serve")
    // Do not use commander's own help option: with a separate option, the table of settings is loaded only for
    // `--help`.
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
