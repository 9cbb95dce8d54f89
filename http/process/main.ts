import { MigrationCutShort } from "../../storage/migrations.js";
import { StoreError } from "../../storage/store.js";
import { onEndSignal } from "../wire/end-signals.js";
import { WrongSetting } from "./config.js";
import { createLog, openReadable } from "./log.js";
import { type Service, startService } from "./service.js";
import { SettingsSource } from "./settings-source.js";

/**
 * Runs the service as a process. The settings come from the environment and a file. The first signal drains the
 * service, the second ends the process at once, and SIGHUP reloads the file.
 */
async function main(): Promise<void> {
  const source = new SettingsSource(process.env);
  const { config } = source;
  const log = createLog(config.logLevel, config.logFormat === "pretty" ? await openReadable() : undefined);
  let hasWarned = false;
  const warnOfUnknown = (): void => {
    if (!hasWarned) source.warnOfUnknown(log);
    hasWarned = true;
  };
  const ending = new AbortController();
  const starting = startService({
    config,
    log,
    isReadOnly: process.argv.includes("--read-only"),
    ending: ending.signal,
    announced: warnOfUnknown,
    onFatal: (error) => {
      log.error("cannot write to the store", { error });
      process.exit(1);
    },
  });
  drainOnSignal(starting, ending, (message) => log.info(message));
  // Warn also after a failed start, because a misspelt setting may be its cause. The failure itself is reported below.
  starting.catch(warnOfUnknown);
  // Wait for the start: a SIGHUP during the start takes effect after it.
  const reload = async () => {
    const service = await starting;
    source.reload(log, (outboundAllow) => service.allow(outboundAllow));
  };
  // Without a settings file, SIGHUP keeps its default effect: it ends the process. A failed start is reported below.
  if (source.hasFile) process.on("SIGHUP", () => void reload().catch(() => undefined));
  await starting;
}

/**
 * Drains the service at the first signal, and ends the process at the second. A first signal during the start takes
 * effect after the start, or interrupts the store's migration.
 */
function drainOnSignal(starting: Promise<Service>, ending: AbortController, log: (message: string) => void): void {
  const stop = async (times: number) => {
    if (times > 1) process.exit(1);
    ending.abort();
    log("draining");
    await (await starting).stop();
    log("stopped");
    process.exit(0);
  };
  // Ignore the error of a failed start: it is reported below and ends the process.
  onEndSignal((times) => void stop(times).catch(() => undefined));
}

main().catch((error: unknown) => {
  if (error instanceof MigrationCutShort) process.exit(0);
  const known = error instanceof WrongSetting || error instanceof StoreError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(known ? `${message}\n` : `cannot start: ${message}\n`);
  process.exit(1);
});
