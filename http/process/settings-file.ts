import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { type Environment, WrongSetting } from "./config.js";

/** Largest file of settings, in characters. */
const MAX_CHARACTERS = 1024 * 1024;
/** The last name of the text that is checked. It is missing if the parser stopped before. */
const END = "SETTINGS_END";
/** Begins the name of a line that has none; its number follows. It is not a valid name. */
const UNNAMED = "UNNAMED LINE";
/** Maximum number of invalid lines that are compared to find the first. */
const MAX_SHOWN = 1_000;

/**
 * The settings in the file that `SETTINGS_FILE` names, by name: lines `KEY=value` as `util.parseEnv` of Node reads them. None
 * without the setting. Throws {@link WrongSetting} for a file that cannot be read or has a line of another form.
 */
export function readSettingsFile({ SETTINGS_FILE: path = "" }: Environment): Environment {
  if (path === "") return {};
  const text = readText(path).replace(/^\uFEFF/, "");
  if (text.length > MAX_CHARACTERS) throw wrong(path, "is larger than 1 MiB");
  const { [END]: end, ...names } = parseEnv(`${nameAllLines(text)}\n${END}=`);
  const unread = Object.keys(names).filter((name) => !/^[\w.-]+$/.test(name));
  if (unread.length > 0) {
    const first = Math.min(...unread.slice(0, MAX_SHOWN).map((name) => lineOf(name, text)));
    throw wrong(path, `has a line that is not KEY=value: line ${first}`);
  }
  if (end === undefined) throw wrong(path, "ends within a quoted value");
  return { ...parseEnv(text) };
}

/**
 * Gives each line without a name one that is found. Versions of Node differ in whether they skip such a line or join it
 * with the next. Within a quoted value this changes only the value, which is not used.
 */
function nameAllLines(text: string): string {
  const isRead = (line: string) => /^\s*(#|$)/.test(line) || /^[^=]*[^=\s][^=]*=/.test(line);
  const lines = text.split("\n");
  return lines.map((line, index) => (isRead(line) ? line : `${UNNAMED} ${index + 1} ${line.trim()}=`)).join("\n");
}

/** The settings of the file and of the environment, which wins. An empty one is none. */
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

/** The number of the line that a name begins with: what stands there may be a secret. */
function lineOf(name: string, text: string): number {
  const [, number] = new RegExp(`^${UNNAMED} (\\d+)`).exec(name) ?? [];
  if (number !== undefined) return Number(number);
  const [first = ""] = name.split("\n");
  return text.split("\n").findIndex((line) => line.trim().startsWith(first.trim())) + 1;
}
