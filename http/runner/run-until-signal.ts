import { randomBytes } from "node:crypto";
import { createSystemClock } from "../../runtime/clock.js";
import { onEndSignal } from "../wire/end-signals.js";
import type { RunnerWish } from "./read-wish.js";
import { type Runner, startRunner } from "./runner.js";

/**
 * Starts the runner as a program, and resolves once the runner has started. Rejects if it cannot start.
 *
 * - At the first SIGTERM or SIGINT, the runner finishes its active runs. At the second, it stops them. Then the
 *   process exits with 0.
 * - At the third, the runner kills the runs, and the process exits with 1 at once.
 * - If the service refuses the token before it ever accepted one, the runner finishes its active runs, and the
 *   process exits with 1.
 */
export async function runUntilSignal(wish: RunnerWish): Promise<void> {
  // Remove the token: agents do not inherit this environment, but other tools on the machine may see it.
  delete process.env.SIGNALBOX_POOL_TOKEN;
  const clock = createSystemClock();
  const log = (line: string): void => console.log(`${new Date(clock.now()).toISOString()} ${line}`);
  const runner: Runner = await startRunner({
    ...wish,
    clock,
    random: Math.random,
    instance: randomBytes(16).toString("hex"),
    log,
    refused: () => void end(runner.drain(), 1),
  });
  if (wish.command.length === 0) log("no --command: runs of stations without their own program fail");
  process.on("exit", () => runner.kill());
  onEndSignal((times) => {
    log(["draining: finishing the active runs", "stopping"][times - 1] ?? "killed");
    if (times > 2) process.exit(1);
    void end(times === 1 ? runner.drain() : runner.stop(), 0);
  });
}

/** Exits the process with `code` when `ended` resolves, and with 1 if `ended` rejects. */
function end(ended: Promise<void>, code: number): Promise<never> {
  return ended.then(
    () => process.exit(code),
    (error: unknown) => {
      console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
      process.exit(1);
    },
  );
}
