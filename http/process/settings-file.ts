import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { type Environment, WrongSetting } from "./config.js";

/** Largest file of settings, in characters. */
const MAX_CHARACTERS = 1024 * 1024;
/** Stands at the end of what is parsed, so that a last line without `=` becomes part of a name and is found. */
const END = "SETTINGS_END";

/**
 * The settings in the file that `SETTINGS_FILE` names, by name: lines `KEY=value` as `util.parseEnv` of Node reads them. None
 * without the setting. Throws {@link WrongSetting} for a file that cannot be read or has a line of another form.
 */
export function readSettingsFile({ SETTINGS_FILE: path = "" }: Environment): Environment {
  if (path === "") return {};
  const text = readText(path).replace(/^\uFEFF/, "");
  if (text.length > MAX_CHARACTERS) throw wrong(path, "is larger than 1 MiB");
  const { [END]: end, ...values } = parseEnv(`${text}\n${END}=`);
  const unread = Object.keys(values).find((name) => !/^[\w.-]+$/.test(name));
  if (unread !== undefined) throw wrong(path, `has a line that is not KEY=value: line ${lineOf(unread, text)}`);
  if (end === undefined) throw wrong(path, "ends within a quoted value");
  return values;
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
  const [first = ""] = name.split("\n");
  return text.split("\n").findIndex((line) => line.trim().startsWith(first.trim())) + 1;
}
