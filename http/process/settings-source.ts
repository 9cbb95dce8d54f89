import type { Config } from "../wire/config.js";
import type { ServiceLog } from "../wire/service-log.js";
import { type Environment, readConfig, settings, WrongSetting } from "./config.js";
import { findMisspelt, listUnknown, type UnknownSetting } from "./misspelt-settings.js";
import { readSettingsFile, withSettingsFile } from "./settings-file.js";

type Log = Pick<ServiceLog, "info" | "warn" | "error">;

/** The only setting that takes effect while the service runs. */
const LIVE = "OUTBOUND_ALLOW";

/**
 * The source of a process's settings: its environment, and the file that `SETTINGS_FILE` names.
 *
 * 1. The environment takes precedence.
 * 2. Log lines name settings but never contain their values.
 */
export class SettingsSource {
  readonly #environment: Environment;
  /** The file's settings when it was last read. */
  #file: Environment;
  /** The settings at the start of the process. */
  readonly #started: Environment;
  readonly config: Config;
  #outboundAllow: string;

  /** Reads the settings. Throws {@link WrongSetting} for the first invalid one. */
  constructor(environment: Environment) {
    this.#environment = environment;
    this.#file = readSettingsFile(environment);
    this.#started = withSettingsFile(environment, this.#file);
    this.config = readConfig(this.#started);
    this.#outboundAllow = this.config.outboundAllow;
  }

  /** Whether there is a file to reload. */
  get hasFile(): boolean {
    return (this.#environment.SETTINGS_FILE ?? "") !== "";
  }

  /** Warns of names in the environment that look like settings, and of all names in the file that are not settings. */
  warnOfUnknown(log: Pick<Log, "warn">): void {
    for (const unknown of findMisspelt(this.#environment)) warnOf(log, "the environment", unknown);
    this.#warnOfUnknownInFile(log);
  }

  /**
   * Reloads the file. Calls `allow` with the new `OUTBOUND_ALLOW` if it changed. Logs for any other change that it
   * needs a restart. An invalid file changes nothing.
   */
  reload(log: Log, allow: (outboundAllow: string) => void): void {
    let file: Environment;
    let config: Config;
    try {
      file = readSettingsFile(this.#environment);
      config = readConfig(withSettingsFile(this.#environment, file));
    } catch (error) {
      if (!(error instanceof WrongSetting)) throw error;
      log.error(`kept the current settings: ${error.message}`, {});
      return;
    }
    const before = this.#file;
    this.#file = file;
    this.#warnOfUnknownInFile(log);
    for (const name of Object.keys(settings)) this.#warnOfChange(log, name, before);
    if (config.outboundAllow === this.#outboundAllow) return;
    this.#outboundAllow = config.outboundAllow;
    log.info(`${LIVE} was changed and has taken effect`);
    allow(config.outboundAllow);
  }

  #warnOfChange(log: Log, name: string, before: Environment): void {
    const isShadowed = (this.#environment[name] ?? "") !== "";
    if (isShadowed) {
      if (this.#file[name] !== before[name])
        log.warn(`${name} was changed in the settings file, but the environment also sets it and takes precedence`, {});
      return;
    }
    if (name !== LIVE && (this.#file[name] ?? "") !== (this.#started[name] ?? ""))
      log.warn(`${name} was changed: restart the service to apply it`, {});
  }

  #warnOfUnknownInFile(log: Pick<Log, "warn">): void {
    for (const unknown of listUnknown(this.#file)) warnOf(log, "the settings file", unknown);
    if (this.#file.SETTINGS_FILE !== undefined)
      log.warn("SETTINGS_FILE in the settings file has no effect: set it in the environment", {});
  }
}

function warnOf(log: Pick<Log, "warn">, where: string, { name, meant }: UnknownSetting): void {
  const suggestion = meant === null ? "" : `: did you mean ${meant}?`;
  log.warn(`${name} in ${where} is not a setting, and has no effect${suggestion}`, {});
}
