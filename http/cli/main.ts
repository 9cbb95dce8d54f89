import { listenForSignals, processTerminal } from "./command/terminal.js";
import { runCommandLine } from "./program.js";

/** Runs the command line of this process. */
const code = await runCommandLine(process.argv.slice(2), {
  terminal: processTerminal(),
  interruption: listenForSignals,
});
// Leave the exit code of `serve` and `runner` unset: they set it themselves when they end.
if (code !== 0) process.exitCode = code;
