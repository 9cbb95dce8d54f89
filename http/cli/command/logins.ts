import { join } from "node:path";
import { z } from "zod";
import { startTime } from "../../wire/process-start.js";
import { CommandError, exitCodes } from "./exit-codes.js";
import { parseHttpAddress } from "./http-address.js";
import { configFolder, DEV_LOGIN, findDevFolder, findStartedDev } from "./places.js";
import { readPrivateFile, writePrivateFile } from "./private-file.js";
import type { Terminal } from "./terminal.js";

/** A sign-in, as a file stores it. */
const loginSchema = z.object({
  url: z.string(),
  /** The `session` cookie of a person, as `name=value`. */
  cookie: z.string().optional(),
  /** A workspace token. */
  token: z.string().optional(),
});

/** A service, and the credential for it. */
export type Login = z.output<typeof loginSchema>;

/** The sign-in of `signalbox dev`, as a file stores it. */
export const devLoginSchema = loginSchema.extend({
  /** The process of the service. When it has ended, another program may listen at the address. */
  process: z.object({
    pid: z.int().positive(),
    /** See {@link startTime}. */
    started: z.string().nullable(),
  }),
});

const loginsSchema = z.object({
  /** The address of the last sign-in. Null if there is none, or if the person has signed out at that address. */
  current: z.string().nullable(),
  /** The sign-ins, by the service's address. */
  logins: z.record(z.string(), loginSchema),
});

type Place = Pick<Terminal, "env" | "folder">;

/** The options of a command that select the service and the credential. */
export interface LoginWish {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}

/**
 * Returns the service and the credential for a command; null if no service is known.
 *
 * The address comes from the first of these that exists:
 *
 * 1. `--url`
 * 2. `SIGNALBOX_URL`
 * 3. the service that `signalbox dev` runs in this folder or one above it
 * 4. the last sign-in, if `signalbox dev` was not started in this folder or one above it
 *
 * If `signalbox dev` was started in such a folder, the last sign-in is not used even after `signalbox dev` has stopped:
 * a command must not reach another service by accident.
 *
 * The credential comes from `--token`, `SIGNALBOX_TOKEN`, or the sign-in at that address; it is omitted if none of them
 * exists. A token is used only for an address that the person gave or signed in at. So it is not used for the service
 * of `signalbox dev` by default. Throws a {@link CommandError} for a token without an address.
 */
export function chooseLogin(terminal: Place, wish: LoginWish): Login | null {
  const { SIGNALBOX_URL: envUrl = "", SIGNALBOX_TOKEN: envToken = "" } = terminal.env;
  const token = wish.token ?? (envToken === "" ? undefined : envToken);
  const given = wish.url ?? (envUrl === "" ? undefined : envUrl);
  if (token !== undefined) {
    const url = given === undefined ? findSignedIn(terminal) : toAddress(given);
    if (url !== null) return { url, token };
    throw new CommandError(
      "a token needs the address of its service: give --url, or set SIGNALBOX_URL",
      exitCodes["no-service"],
    );
  }
  const url = given === undefined ? findDefaultService(terminal) : toAddress(given);
  if (url === null) return null;
  const dev = readDevLogin(terminal)?.login;
  if (dev?.url !== url) return readLogins(terminal).logins[url] ?? { url };
  const { process: _process, ...login } = dev;
  return login;
}

/**
 * Returns the address of the default service of commands in this folder; null if there is none. Commands use it if no
 * option and no variable gives an address or a token.
 */
export function findDefaultService(terminal: Place): string | null {
  return findDevService(terminal) ?? findSignedIn(terminal);
}

/**
 * Returns the address of the service that `signalbox dev` runs in this folder or one above it; null if there is none.
 */
export function findDevService(terminal: Place): string | null {
  return readDevLogin(terminal)?.login.url ?? null;
}

/**
 * Returns the address of the last sign-in; null if there is none, or if `signalbox dev` was started in this folder or
 * one above it.
 */
function findSignedIn(terminal: Place): string | null {
  return findStartedDev(terminal) === null ? readLogins(terminal).current : null;
}

/**
 * Stores a sign-in. Later commands use its service by default. For the service that `signalbox dev` runs in this folder
 * or one above it, replaces the sign-in of `signalbox dev`.
 */
export function saveLogin(terminal: Place, login: Login): void {
  const dev = readDevLogin(terminal);
  if (dev?.login.url === login.url) return writePrivateFile(dev.path, { ...login, process: dev.login.process });
  const { logins } = readLogins(terminal);
  writePrivateFile(loginsPath(terminal), { current: login.url, logins: { ...logins, [login.url]: login } });
}

/**
 * Removes the credential for an address. If `signalbox dev` runs a service at this address, in this folder or one above
 * it, also removes the credential of `signalbox dev`. Commands still find the address of that service.
 */
export function removeLogin(terminal: Place, url: string): void {
  const dev = readDevLogin(terminal);
  if (dev?.login.url === url) writePrivateFile(dev.path, { url, process: dev.login.process });
  const { current, logins } = readLogins(terminal);
  const { [url]: _removed, ...others } = logins;
  writePrivateFile(loginsPath(terminal), { current: current === url ? null : current, logins: others });
}

/**
 * Returns the address without trailing slashes. A sign-in is stored under this form of its address. Throws a {@link
 * CommandError} if the address is not http or https, or has a user name or password. The error does not repeat the
 * address, because the address may contain a password.
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

function readLogins(terminal: Place): z.output<typeof loginsSchema> {
  return readPrivateFile(loginsPath(terminal), loginsSchema) ?? { current: null, logins: {} };
}

/**
 * Reads the sign-in of `signalbox dev` in this folder or one above it. Null if there is none, or if the service's
 * process has ended.
 */
function readDevLogin(
  terminal: Place,
): { readonly path: string; readonly login: z.output<typeof devLoginSchema> } | null {
  const folder = findDevFolder(terminal);
  if (folder === null) return null;
  const path = join(folder, DEV_LOGIN);
  const login = readPrivateFile(path, devLoginSchema);
  return login === null || !isAlive(login.process) ? null : { path, login };
}

/** Whether the service's process still runs. Without `/proc`, also true if a later process has the same id. */
function isAlive({ pid, started }: z.output<typeof devLoginSchema>["process"]): boolean {
  if (startTime(pid) !== started) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs, and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function loginsPath(terminal: Place): string {
  return join(configFolder(terminal), "logins.json");
}
