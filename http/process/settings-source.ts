import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import type { Config } from "../wire/config.js";
import type { ServiceLog } from "../wire/service-log.js";
import { type Environment, readConfig, settings, WrongSetting } from "./config.js";
import { findMisspelt, listUnknown, type UnknownSetting } from "./misspelt-settings.js";

type Log = Pick<ServiceLog, "info" | "warn" | "error">;

/** The only setting that takes effect without a restart. */
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

  /** Warns of names in the environment that look like settings, and of all unknown names in the file. */
  warnOfUnknown(log: Pick<Log, "warn">): void {
    for (const unknown of findMisspelt(this.#environment)) warnOfSetting(log, "the environment", unknown);
    this.#warnOfUnknownInFile(log);
  }

  /**
   * Reloads the file. Calls `allow` with the new `OUTBOUND_ALLOW` if it changed. For any other changed setting, logs
   * that the change needs a restart. An invalid file changes nothing.
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
    for (const unknown of listUnknown(this.#file)) warnOfSetting(log, "the settings file", unknown);
    if (this.#file.SETTINGS_FILE !== undefined)
      log.warn("SETTINGS_FILE in the settings file has no effect: set it in the environment", {});
  }
}

function warnOfSetting(log: Pick<Log, "warn">, where: string, { name, meant }: UnknownSetting): void {
  const suggestion = meant === null ? "" : `: did you mean ${meant}?`;
  log.warn(`${name} in ${where} is not a setting, and has no effect${suggestion}`, {});
}

/** Maximum size of the settings file, in characters. */
const MAX_CHARACTERS = 1024 * 1024;
/**
 * A name that is appended to the text before parsing. If the parsed result lacks this name, the parser stopped before
 * the end of the text.
 */
const END = "SETTINGS_END";
/** Prefix of the name given to a line without a valid name. The line number follows. */
const UNNAMED = "UNNAMED LINE";

/**
 * Reads the settings file that `SETTINGS_FILE` names. The file has lines `KEY=value`, as Node's `util.parseEnv` reads
 * them. Returns no settings if `SETTINGS_FILE` is not set. Throws {@link WrongSetting} in these cases:
 *
 * - The file cannot be read or is too large.
 * - A line has another form.
 * - The file ends inside a quoted value.
 *
 * The error message quotes no line, because a line may contain a secret.
 */
export function readSettingsFile({ SETTINGS_FILE: path = "" }: Environment): Environment {
  if (path === "") return {};
  const text = readText(path).replace(/^\uFEFF/, "");
  if (text.length > MAX_CHARACTERS) throw wrong(path, "is larger than 1 MiB");
  const { [END]: end, ...names } = parseEnv(`${nameAllLines(text)}\n${END}=`);
  const unread = Object.keys(names).flatMap((name) => (/^[\w.-]+$/.test(name) ? [] : [readNumber(name)]));
  if (unread.length > 0) throw wrong(path, `has a line that is not KEY=value: line ${Math.min(...unread)}`);
  if (end === undefined) throw wrong(path, "ends inside a quoted value");
  return { ...parseEnv(text) };
}

/**
 * Gives each line without a valid name a recognizable name. Otherwise the result would depend on the version of Node:
 * some versions skip a line without `=`, others join it with the next line. A line inside a quoted value is changed
 * too, but the values of this text are not used.
 */
function nameAllLines(text: string): string {
  const isRead = (line: string) => /^\s*(#|$)/.test(line) || /^\s*(export\s+)?[\w.-]+\s*=/.test(line);
  const lines = text.split("\n");
  return lines.map((line, index) => (isRead(line) ? line : `${UNNAMED} ${index + 1} ${line.trim()}=`)).join("\n");
}

function readNumber(name: string): number {
  return Number(name.slice(UNNAMED.length).trim().split(" ", 1)[0]);
}

/** Merges the settings of the file and the environment. The environment takes precedence, except for empty values. */
export function withSettingsFile(environment: Environment, file: Environment): Environment {
  const given = Object.entries(environment).filter(([, value]) => value !== undefined && value !== "");
  return { ...file, ...Object.fromEntries(given) };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw wrong(path, `cannot be read (${error instanceof Error && "code" in error ? error.code : "unknown"})`);
  }
}

function wrong(path: string, what: string): WrongSetting {
  return new WrongSetting(`SETTINGS_FILE: ${path} ${what}`);
}
