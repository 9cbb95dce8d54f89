import { once } from "node:events";
import type { Context } from "../command/context.js";
import { exitCodes } from "../command/exit-codes.js";
import type { Running } from "./start.js";

/**
 * Runs until the person interrupts the command. Then finishes the active runs and stops the service. A second
 * interruption stops the runs. A third interruption kills the runs and ends the process. If the store fails, kills the
 * runs, stops the service and the runner, and rejects.
 */
export async function runUntilInterrupted(
  {
    service,
    runner,
    failed,
  }: Pick<Running, "failed"> & {
    readonly service: Pick<Running["service"], "stop">;
    readonly runner: Running["runner"];
  },
  { terminal, signal, onInterruptedAgain }: Pick<Context, "terminal" | "signal" | "onInterruptedAgain">,
  show: () => void,
): Promise<void> {
  const kill = () => runner.kill();
  process.on("exit", kill);
  onInterruptedAgain((times) => {
    if (times > 2) process.exit(exitCodes.interrupted);
    terminal.note("stopping the active runs");
    runner.stop().catch(() => undefined);
  });
  try {
    show();
    if (!signal.aborted) await Promise.race([once(signal, "abort"), failed]);
    terminal.note("draining: finishing the active runs; Ctrl+C again stops them");
    await Promise.race([runner.drain(), failed]);
    await service.stop();
  } catch (error) {
    // Stop the service before the runner, so that the runner does not wait for the service's acknowledgments.
    kill();
    await service.stop();
    await runner.stop();
    throw error;
  } finally {
    process.off("exit", kill);
  }
}
