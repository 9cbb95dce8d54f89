import { randomBytes } from "node:crypto";
import { createSystemClock } from "../../runtime/clock.js";
import { onEndSignal } from "../wire/end-signals.js";
import type { RunnerWish } from "./read-wish.js";
import { startRunner } from "./runner.js";

/**
 * Starts the runner as a program, and resolves once it has started. The first end signal drains, the second stops the
 * runs, the third kills them; then the process exits. Rejects if the runner cannot start.
 */
export async function runUntilSignal(wish: RunnerWish): Promise<void> {
  // Agents do not inherit this environment, but other tools on the machine may see it.
  delete process.env.SIGNALBOX_POOL_TOKEN;
  const runner = await startRunner({
    ...wish,
    clock: createSystemClock(),
    random: Math.random,
    instance: randomBytes(16).toString("hex"),
    log: (line) => console.log(line),
  });
  if (wish.command.length === 0) console.log("no --command: runs of stations without their own program fail");
  process.on("exit", () => runner.kill());
  onEndSignal((times) => {
    console.log(["draining: finishing the active runs", "stopping"][times - 1] ?? "killed");
    if (times > 2) process.exit(1);
    (times === 1 ? runner.drain() : runner.stop()).then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
        process.exit(1);
      },
    );
  });
}
