import { rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { CommandError, exitCodes } from "./exit-codes.js";
import { parseHttpAddress } from "./http-address.js";
import { configFolder, DEV_LOGIN, findDevFolder } from "./places.js";
import { readPrivateFile, writePrivateFile } from "./private-file.js";
import type { Terminal } from "./terminal.js";

/** A sign-in, as a file stores it. */
export const loginSchema = z.object({
  url: z.string(),
  /** The `session` cookie of a person, as `name=value`. */
  cookie: z.string().optional(),
  /** A workspace token. */
  token: z.string().optional(),
});

/** A service, and the credential for it. */
export type Login = z.output<typeof loginSchema>;

const loginsSchema = z.object({
  /** The address of the service that commands use. */
  current: z.string().nullable(),
  /** The sign-ins, by the service's address. */
  logins: z.record(z.string(), loginSchema),
});

/** The options of a command that select the service and the credential. */
export interface LoginWish {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}

/**
 * Returns the service and the credential for a command; null if no service is known. The address comes from the first
 * of: `--url`, `SIGNALBOX_URL`, the service that `signalbox dev` runs in this folder or one above it, the last sign-in.
 * The credential comes from `--token`, `SIGNALBOX_TOKEN`, or the sign-in at that address; it is omitted if there is
 * none.
 */
export function chooseLogin(terminal: Terminal, wish: LoginWish): Login | null {
  const { SIGNALBOX_URL: envUrl = "", SIGNALBOX_TOKEN: envToken = "" } = terminal.env;
  const token = wish.token ?? (envToken === "" ? undefined : envToken);
  const given = wish.url ?? (envUrl === "" ? undefined : envUrl);
  const url = given === undefined ? findDefaultService(terminal) : toAddress(given);
  if (url === null) return null;
  if (token !== undefined) return { url, token };
  const dev = readDevLogin(terminal)?.login;
  return (dev?.url === url ? dev : readLogins(terminal).logins[url]) ?? { url };
}

/**
 * Returns the address of the service that commands in this folder use by default, if neither an option nor a variable
 * gives one; null if there is none.
 */
export function findDefaultService(terminal: Terminal): string | null {
  return readDevLogin(terminal)?.login.url ?? readLogins(terminal).current;
}

/** Stores a sign-in. Later commands use its service by default. */
export function saveLogin(terminal: Terminal, login: Login): void {
  const { logins } = readLogins(terminal);
  writePrivateFile(loginsPath(terminal), { current: login.url, logins: { ...logins, [login.url]: login } });
}

/** Removes the sign-in at an address; also that of `signalbox dev` in this folder or one above it. */
export function removeLogin(terminal: Terminal, url: string): void {
  const dev = readDevLogin(terminal);
  if (dev?.login.url === url) rmSync(dev.path, { force: true });
  const { current, logins } = readLogins(terminal);
  const { [url]: _removed, ...others } = logins;
  writePrivateFile(loginsPath(terminal), { current: current === url ? null : current, logins: others });
}

/**
 * Returns the address without trailing slashes, which is the key of its sign-in. Throws a {@link CommandError} if it is
 * not an http or https address, or has a user name or password. The error does not repeat the address, because it may contain a
 * password.
 */
export function toAddress(url: string): string {
  if (parseHttpAddress(url) === null) {
    throw new CommandError(
      "the address of the service must be an http or https address without a user name or password",
      exitCodes.usage,
    );
  }
  return url.replace(/\/+$/, "");
}

function readLogins(terminal: Terminal): z.output<typeof loginsSchema> {
  return readPrivateFile(loginsPath(terminal), loginsSchema) ?? { current: null, logins: {} };
}

/**
 * Reads the sign-in of `signalbox dev` in this folder or one above it; null if there is none. It remains after the
 * service has stopped.
 */
function readDevLogin({ folder }: Terminal): { readonly path: string; readonly login: Login } | null {
  const dev = findDevFolder(folder);
  const path = join(dev ?? "", DEV_LOGIN);
  const login = dev === null ? null : readPrivateFile(path, loginSchema);
  return login === null ? null : { path, login };
}

function loginsPath(terminal: Terminal): string {
  return join(configFolder(terminal), "logins.json");
}
