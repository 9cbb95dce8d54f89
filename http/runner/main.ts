import { randomBytes } from "node:crypto";
import { createSystemClock } from "../../runtime/clock.js";
import { onEndSignal } from "../wire/end-signals.js";
import { createCommandLine, readCommandLine } from "./command-line.js";
import { startRunner } from "./runner.js";

/**
 * The runner as a program: options come from the command line, and the token preferably from the environment. The first
 * signal drains, the second stops the runs, the third kills them.
 */

async function main(): Promise<void> {
  const wish = readCommandLine(createCommandLine(), process.argv.slice(2));
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
    (times === 1 ? runner.drain() : runner.stop()).then(() => process.exit(0), failed);
  });
}

function failed(error: unknown): void {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

main().catch(failed);
