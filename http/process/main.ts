#!/usr/bin/env node
import { StoreError } from "../../storage/store.js";
import { readConfig, WrongSetting } from "./config.js";
import { onEndSignal } from "./end-signals.js";
import { createLog } from "./log.js";
import { type Service, startService } from "./service.js";

/** The service as a process: settings from the environment, SIGTERM drains, a second signal ends it at once. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const starting = startService({
    config,
    log,
    onFatal: (error) => {
      log.error("the store cannot be written any more", { error });
      process.exit(1);
    },
  });
  drainOnSignal(starting, (message) => log.info(message));
  await starting;
}

/** A signal during the start is kept until the start is over. */
function drainOnSignal(starting: Promise<Service>, say: (message: string) => void): void {
  const stop = async (times: number) => {
    if (times > 1) process.exit(1);
    say("draining");
    await (await starting).stop();
    say("stopped");
    process.exit(0);
  };
  // A start that fails is told of, and ends the process, below.
  onEndSignal((times) => void stop(times).catch(() => undefined));
}

main().catch((error: unknown) => {
  const known = error instanceof WrongSetting || error instanceof StoreError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(known ? `${message}\n` : `cannot start: ${message}\n`);
  process.exit(1);
});
