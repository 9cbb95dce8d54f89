import { createClient } from "../../client/entry.js";
import { ask } from "../command/ask.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { chooseLogin, findDefaultService, type Login, saveLogin, toAddress } from "../command/logins.js";
import { openSession, toLinkToken } from "../command/session.js";

interface LoginOptions extends CommonOptions {
  readonly email?: string;
  readonly link?: string;
}

/** Signs in, checks the credential and stores the credential for later commands. */
export async function login(context: Context, options: LoginOptions, given: string | undefined): Promise<void> {
  const { terminal } = context;
  const token = await readToken(context, options);
  const known = given ?? chooseLogin(terminal, options)?.url;
  if (known === undefined) {
    throw new CommandError("give the address of the service: signalbox login https://…", exitCodes.usage);
  }
  const url = toAddress(known);
  const credential = token === null ? { url, cookie: await signIn(context, url, options) } : { url, token };
  const who = await check(context, credential);
  saveLogin(terminal, credential);
  if (findDefaultService(terminal) !== url) {
    terminal.note(`commands in this folder still use signalbox dev: pass --url ${url} to use this service here`);
  }
  context.show({ url, ...who }, () => [
    `signed in to ${url}${who.email === undefined ? " with a token" : ` as ${who.email}`}`,
  ]);
}

async function readToken({ terminal }: Context, { token }: LoginOptions): Promise<string | null> {
  const { SIGNALBOX_TOKEN: environment = "" } = terminal.env;
  if (token === "-") return (await terminal.readInput()).trim();
  return token ?? (environment === "" ? null : environment);
}

/**
 * Returns the session cookie of a sign-in link. Without `--link`, first requests an email with a link and asks the
 * person for that link.
 */
async function signIn(context: Context, url: string, { email, link }: LoginOptions): Promise<string> {
  const { terminal, signal } = context;
  const client = createClient({ baseUrl: url, signal });
  if (link === undefined) {
    const address = email ?? (await ask(terminal, "Email address:", { instead: "--email", signal }));
    await client.post("/api/sign-in", { body: { email: address } });
    terminal.note(`sent a sign-in link to ${address} (without a mail server, find the link in the service's log)`);
  }
  const pasted = link ?? (await ask(terminal, "Link from the email:", { instead: "--link", signal }));
  return openSession(client, toLinkToken(pasted));
}

/**
 * Returns the email address of the signed-in person (omitted for a token) and the slugs of the credential's workspaces.
 * Throws if the service rejects the credential.
 */
async function check(
  { signal }: Context,
  { url, cookie, token }: Login,
): Promise<{ readonly email?: string; readonly workspaces: readonly string[] }> {
  if (cookie !== undefined) {
    const { email, workspaces } = await createClient({ baseUrl: url, cookie, signal }).get("/api/sessions/me");
    return { email, workspaces: workspaces.map(({ slug }) => slug) };
  }
  const client = createClient({ baseUrl: url, token: token ?? "", signal });
  const { items } = await client.get("/api/resources/workspaces");
  return { workspaces: items.map(({ slug }) => slug) };
}
