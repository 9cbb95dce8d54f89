import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Terminal } from "./terminal.js";

/** The folder of `signalbox dev` in a repository: its store, its log and its sign-in. */
export const DEV_FOLDER = ".signalbox";
/** The sign-in that `signalbox dev` writes into {@link DEV_FOLDER}. */
export const DEV_LOGIN = "login.json";

/** The folder of the person's own files: `$XDG_CONFIG_HOME/signalbox`, otherwise `~/.config/signalbox`. */
export function configFolder({ env }: Pick<Terminal, "env">): string {
  const { XDG_CONFIG_HOME: given = "" } = env;
  return join(given === "" ? join(env.HOME ?? homedir(), ".config") : given, "signalbox");
}

/** The folder of files that can be made again: `$XDG_CACHE_HOME/signalbox`, otherwise `~/.cache/signalbox`. */
export function cacheFolder({ env }: Pick<Terminal, "env">): string {
  const { XDG_CACHE_HOME: given = "" } = env;
  return join(given === "" ? join(env.HOME ?? homedir(), ".cache") : given, "signalbox");
}

/** Finds the nearest {@link DEV_FOLDER} with a sign-in, in this folder or one above it; null if there is none. */
export function findDevFolder(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, DEV_FOLDER);
    if (existsSync(join(found, DEV_LOGIN))) return found;
    if (dirname(at) === at) return null;
  }
}
