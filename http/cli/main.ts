import { listenForSignals, processTerminal } from "./command/terminal.js";
import { runCommandLine } from "./program.js";

/** Runs the command line of this process. */
const code = await runCommandLine(process.argv.slice(2), {
  terminal: processTerminal(),
  interruption: listenForSignals,
});
// `serve` and `runner` set the code themselves when they end.
if (code !== 0) process.exitCode = code;
