#!/usr/bin/env node
import { StoreError } from "../storage/store.js";
import { readConfig, WrongSetting } from "./config.js";
import { createLog } from "./log.js";
import { type Service, startService } from "./service.js";

/** The service as a process: settings from the environment, SIGTERM drains, a second signal ends it at once. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const service = await startService({
    config,
    log,
    onFatal: (error) => {
      log.error("the store cannot be written any more", { reason: String(error) });
      process.exit(1);
    },
  });
  drainOnSignal(service, (message) => log.info(message));
}

function drainOnSignal(service: Service, say: (message: string) => void): void {
  let stopping = false;
  const stop = async () => {
    if (stopping) process.exit(1);
    stopping = true;
    say("draining");
    await service.stop();
    say("stopped");
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop());
}

main().catch((error: unknown) => {
  const known = error instanceof WrongSetting || error instanceof StoreError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(known ? `${message}\n` : `cannot start: ${message}\n`);
  process.exit(1);
});
