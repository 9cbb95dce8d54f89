import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Terminal } from "./terminal.js";

/**
 * The folder of `signalbox dev` in a repository: its store and its log. A cloned repository can contain such a folder,
 * so nothing in it selects a service or a credential.
 */
export const DEV_FOLDER = ".signalbox";
/**
 * The file with the sign-in of `signalbox dev`, in the person's own folder for a repository; see {@link
 * toOwnDevFolder}.
 */
export const DEV_LOGIN = "login.json";
/**
 * The file with the mark of a checkout, in the person's own folder for a repository in which `signalbox dev` was
 * started; see `claim.ts`.
 */
export const DEV_MARK = "mark.json";

/**
 * The folder of the person's own files: `$XDG_CONFIG_HOME/signalbox`, otherwise `~/.config/signalbox`. Relative paths
 * in `XDG_CONFIG_HOME` (as in the XDG Base Directory Specification) and `HOME` have no effect: they could lead into a
 * repository.
 */
export function configFolder({ env }: Pick<Terminal, "env">): string {
  return join(toAbsolute(env.XDG_CONFIG_HOME) ?? join(homeFolder(env), ".config"), "signalbox");
}

/** The folder of files that can be recreated: `$XDG_CACHE_HOME/signalbox`, otherwise `~/.cache/signalbox`. */
export function cacheFolder({ env }: Pick<Terminal, "env">): string {
  return join(toAbsolute(env.XDG_CACHE_HOME) ?? join(homeFolder(env), ".cache"), "signalbox");
}

function homeFolder({ HOME }: Terminal["env"]): string {
  return toAbsolute(HOME) ?? userInfo().homedir;
}

function toAbsolute(path = ""): string | null {
  return isAbsolute(path) ? path : null;
}

/** Returns a short name for a folder: a hash of its real path. */
export function toPathHash(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 16);
}

/**
 * The person's own folder for the `signalbox dev` of a repository, outside of the repository. `top` is the real path of
 * the repository's top folder.
 */
export function toOwnDevFolder(terminal: Pick<Terminal, "env">, top: string): string {
  return join(configFolder(terminal), "dev", toPathHash(top));
}

/**
 * Returns the person's own folder for the `signalbox dev` that was started in this folder or one above it; null if
 * there is none.
 */
export function findDevFolder(terminal: Pick<Terminal, "env" | "folder">): string | null {
  const top = findStartedDev(terminal);
  return top === null ? null : toOwnDevFolder(terminal, top);
}

/** Returns the top folder of the git checkout that a folder is in; the folder itself if it is in none. */
export function findRepository(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return folder;
  }
}

/**
 * Returns the nearest folder, from this one upwards, in which `signalbox dev` was started; null if there is none.
 * `signalbox dev` may have stopped since.
 */
export function findStartedDev({ env, folder }: Pick<Terminal, "env" | "folder">): string | null {
  for (let at = realpathSync.native(folder); ; at = dirname(at)) {
    const own = toOwnDevFolder({ env }, at);
    if ([DEV_MARK, DEV_LOGIN].some((file) => existsSync(join(own, file)))) return at;
    if (dirname(at) === at) return null;
  }
}
