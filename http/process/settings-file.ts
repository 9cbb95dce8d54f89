import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { type Environment, WrongSetting } from "./config.js";

/** Maximum size of the settings file, in characters. */
const MAX_CHARACTERS = 1024 * 1024;
/** A name appended to the checked text. It is missing in the result if the parser stopped before the end. */
const END = "SETTINGS_END";
/** Prefix of the name given to a line without a valid name. The line number follows. */
const UNNAMED = "UNNAMED LINE";

/**
 * Reads the settings file that `SETTINGS_FILE` names: lines `KEY=value`, as Node's `util.parseEnv` reads them. Returns
 * no settings if `SETTINGS_FILE` is not set. Throws {@link WrongSetting} if the file cannot be read or has a line of
 * another form. The message quotes no line, because a line may contain a secret.
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
 * Gives each line without a valid name a recognizable name, because Node versions differ: some skip a line without `=`,
 * others join it with the next. Inside a quoted value this changes only the value, which is not used.
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
