import { once } from "node:events";
import { onEndSignal } from "../../wire/end-signals.js";
import type { Context } from "../command/context.js";
import { exitCodes } from "../command/exit-codes.js";
import type { Running } from "./start.js";

/**
 * Runs until the person interrupts the command, or until the store fails. Then finishes the active runs and stops the
 * service. A second interruption stops the runs, a third kills them.
 */
export async function runUntilInterrupted(
  { service, runner, failed }: Running,
  { terminal, signal }: Context,
  show: () => void,
): Promise<void> {
  const kill = () => runner.kill();
  process.on("exit", kill);
  const endListening = onEndSignal((times) => {
    // The first interruption aborts the context's `signal`, which starts the drain below.
    if (times === 2) {
      terminal.note("stopping the active runs");
      runner.stop().catch(() => undefined);
    }
    if (times > 2) process.exit(exitCodes.interrupted);
  });
  try {
    show();
    if (!signal.aborted) await Promise.race([once(signal, "abort"), failed]);
    terminal.note("draining: finishing the active runs; Ctrl+C again stops them");
    await Promise.race([runner.drain(), failed]);
  } finally {
    kill();
    await service.stop();
    endListening();
    process.off("exit", kill);
  }
}
