import type { RunnerFlags } from "../../runner/command-line.js";
import { readWish } from "../../runner/read-wish.js";
import { runUntilSignal } from "../../runner/run-until-signal.js";
import type { Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";

/** Starts a runner, which runs until a signal ends the process. */
export async function runRunner(_context: Context, flags: RunnerFlags, program: readonly string[]): Promise<void> {
  const wish = readWish(flags, program, (message) => {
    throw new CommandError(message, exitCodes.usage);
  });
  try {
    await runUntilSignal(wish);
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  }
}
