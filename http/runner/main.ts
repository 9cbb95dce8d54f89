import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { readRelease } from "../wire/release.js";
import { declareRunner, RUNNER_DETAILS, type RunnerFlags } from "./command-line.js";
import { readWish } from "./read-wish.js";
import { runUntilSignal } from "./run-until-signal.js";

/**
 * The runner as a program of its own, for programs that start it in a process. People use `signalbox runner`, which takes
 * the same arguments.
 */

/** Exit code for wrong arguments, as `EX_USAGE` of sysexits. */
const USAGE = 64;

const command = declareRunner(new Command(`node ${basename(fileURLToPath(import.meta.url))}`))
  .version(readRelease(), "--version", "print the version")
  .addHelpText("after", `\n${RUNNER_DETAILS}`)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE))
  .configureOutput({ outputError: (text, write) => write(`${text.trimEnd().replaceAll("\n", " ")}\n`) });
const flags = command.parse().opts<RunnerFlags>();
const wish = readWish(flags, command.args, (message) => command.error(`error: ${message}`));
try {
  await runUntilSignal(wish);
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
