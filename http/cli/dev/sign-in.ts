import { userInfo } from "node:os";
import { mailAddress } from "../../../actors/access/accounts/mail-address.js";
import { userName } from "../../../actors/access/accounts/session.js";
import { ApiError, createClient } from "../../client/entry.js";
import type { Service } from "../../process/service.js";
import { loginSchema } from "../command/logins.js";
import { readPrivateFile, writePrivateFile } from "../command/private-file.js";
import { openSession, toLinkToken } from "../command/session.js";
import type { Checkout } from "./checkout.js";
import type { DevPlaces } from "./dev-folder.js";

/**
 * The mail domain for a person whose git has no address. No mail is ever sent there: the name is reserved for this
 * machine.
 */
const DEFAULT_DOMAIN = "signalbox.localhost";

/** Returns the address of the local person's account: git's if it is valid, otherwise one in {@link DEFAULT_DOMAIN}. */
export function toLocalEmail({ email }: Checkout): string {
  const given = mailAddress.safeParse(email);
  if (given.success) return given.data;
  const own = mailAddress.safeParse(`${userInfo().username}@${DEFAULT_DOMAIN}`);
  return own.success ? own.data : `you@${DEFAULT_DOMAIN}`;
}

/**
 * Signs the local person in for the commands in this folder, and returns the session's cookie. A session of an earlier
 * start is used again.
 */
export async function signIn(options: {
  readonly service: Service;
  readonly url: string;
  readonly places: DevPlaces;
  readonly checkout: Checkout;
  readonly email: string;
  readonly signal: AbortSignal;
}): Promise<string> {
  const { service, url, places, email, signal } = options;
  const kept = readPrivateFile(places.login, loginSchema)?.cookie;
  const isValid = kept !== undefined && (await isSignedIn(url, kept, signal));
  const cookie = isValid ? kept : await open();
  writePrivateFile(places.login, { url, cookie });
  return cookie;

  async function open(): Promise<string> {
    const token = toLinkToken(await service.signInLink(email));
    const opened = await openSession(createClient({ baseUrl: url, signal }), token);
    await setName(url, opened, options);
    return opened;
  }
}

async function isSignedIn(url: string, cookie: string, signal: AbortSignal): Promise<boolean> {
  try {
    await createClient({ baseUrl: url, cookie, signal }).get("/api/sessions/me");
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
}

/** Gives a new account the name of git's configuration. A name that the person has set stays. */
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
