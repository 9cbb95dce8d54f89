import { rmSync } from "node:fs";
import { userInfo } from "node:os";
import { mailAddress } from "../../../actors/access/accounts/mail-address.js";
import { userName } from "../../../actors/access/accounts/session.js";
import { ApiError, type Client, createClient } from "../../client/entry.js";
import type { Service } from "../../process/service.js";
import { startTime } from "../../wire/process-start.js";
import { devLoginSchema } from "../command/logins.js";
import { readPrivateFile, writePrivateFile } from "../command/private-file.js";
import { openSession, toLinkToken } from "../command/session.js";
import type { Checkout } from "./checkout.js";
import type { DevPlaces } from "./dev-folder.js";

/**
 * The email domain for a person without an email address in git's configuration. No mail is ever sent there: the name
 * is reserved for this machine.
 */
const DEFAULT_DOMAIN = "signalbox.localhost";
/** Timeout of a request that ends a session while the service stops, in milliseconds. */
const STOP_MS = 2_000;

/**
 * Returns the address of the local person's account: the email address in git's configuration if it is valid, otherwise
 * an address in {@link DEFAULT_DOMAIN}.
 */
export function toLocalEmail({ email }: Checkout): string {
  const given = mailAddress.safeParse(email);
  if (given.success) return given.data;
  const own = mailAddress.safeParse(`${userInfo().username}@${DEFAULT_DOMAIN}`);
  return own.success ? own.data : `you@${DEFAULT_DOMAIN}`;
}

/** The service, and the files that store its sign-in. */
interface SignInPlace {
  readonly url: string;
  readonly places: DevPlaces;
}

/**
 * Signs the local person in for the commands in this folder, and returns the session's cookie. If an earlier start
 * ended without a sign-out, also ends that start's session: another program at the same port may have received the
 * session's cookie.
 */
export async function signIn(
  options: SignInPlace & {
    readonly service: Service;
    readonly checkout: Checkout;
    readonly email: string;
    readonly signal: AbortSignal;
  },
): Promise<string> {
  const { service, url, places, email, signal } = options;
  const earlier = readPrivateFile(places.login, devLoginSchema)?.cookie;
  if (earlier !== undefined) await endSession(createClient({ baseUrl: url, cookie: earlier, signal }));
  const token = toLinkToken(await service.signInLink(email));
  const cookie = await openSession(createClient({ baseUrl: url, signal }), token);
  writePrivateFile(places.login, { url, cookie, process: { pid: process.pid, started: startTime(process.pid) } });
  await setName(url, cookie, options);
  return cookie;
}

/**
 * Removes the sign-in of the commands in this folder. Ends the session of that sign-in and the session of `cookie`.
 * Does not fail if the service no longer answers.
 */
export async function signOut({ url, places }: SignInPlace, cookie: string): Promise<void> {
  const kept = readPrivateFile(places.login, devLoginSchema)?.cookie ?? cookie;
  rmSync(places.login, { force: true });
  for (const each of new Set([cookie, kept])) {
    const client = createClient({ baseUrl: url, cookie: each, retryMs: 0, timeoutMs: STOP_MS });
    await endSession(client).catch(() => undefined);
  }
}

/** Ends the client's session. Does nothing if the session has already ended. */
async function endSession(client: Client): Promise<void> {
  try {
    await client.delete("/api/sessions");
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  }
}

/** Gives a new account the name in git's configuration. A name that the person has set stays. */
async function setName(
  url: string,
  cookie: string,
  { checkout, email, signal }: { readonly checkout: Checkout; readonly email: string; readonly signal: AbortSignal },
): Promise<void> {
  const client = createClient({ baseUrl: url, cookie, signal });
  const wanted = userName.safeParse(checkout.name);
  const { name } = await client.get("/api/sessions/me", { signal });
  if (!wanted.success || name !== email.slice(0, email.indexOf("@"))) return;
  await client.patch("/api/sessions/me", { body: { name: wanted.data } });
}
