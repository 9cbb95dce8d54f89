import { Command, CommanderError } from "commander";
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
 * The command `signalbox`. Its commands share one frame (`command/`). Code is loaded only when it runs.
 */

/**
 * Runs the command line; returns its exit code. `serve` and `runner` run on after that, and set the exit code of the
 * process when they end.
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
    return error.exitCode;
  }
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
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride(endWith(exitCodes.usage))
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed, 3 no service or not signed in, 64 wrong arguments." +
        "\nShell completion: signalbox complete bash|zsh|fish|powershell prints a script to load.",
    )
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
  addRunnerCommand(tree);
  addAccountCommands(tree);
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
