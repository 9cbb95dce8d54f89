import { MigrationCutShort } from "../../storage/migrations.js";
import { StoreError } from "../../storage/store.js";
import { readConfig, WrongSetting } from "./config.js";
import { onEndSignal } from "./end-signals.js";
import { createLog, openTerminal } from "./log.js";
import { type Service, startService } from "./service.js";

/** The service as a process: settings from the environment; a first signal drains, a second ends it at once. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel, process.stdout.isTTY ? await openTerminal() : undefined);
  const ending = new AbortController();
  const starting = startService({
    config,
    log,
    isReadOnly: process.argv.includes("--read-only"),
    ending: ending.signal,
    onFatal: (error) => {
      log.error("the store cannot be written any more", { error });
      process.exit(1);
    },
  });
  drainOnSignal(starting, ending, (message) => log.info(message));
  await starting;
}

/** A signal during the start takes effect after it, or ends the migration of the store. */
function drainOnSignal(starting: Promise<Service>, ending: AbortController, log: (message: string) => void): void {
  const stop = async (times: number) => {
    if (times > 1) process.exit(1);
    ending.abort();
    log("draining");
    await (await starting).stop();
    log("stopped");
    process.exit(0);
  };
  // A failed start is reported, and ends the process, below.
  onEndSignal((times) => void stop(times).catch(() => undefined));
}

main().catch((error: unknown) => {
  if (error instanceof MigrationCutShort) process.exit(0);
  const known = error instanceof WrongSetting || error instanceof StoreError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(known ? `${message}\n` : `cannot start: ${message}\n`);
  process.exit(1);
});
