import type { Client, TestService } from "./service.js";

/** A signed-in person with their id. */
export interface Person extends Client {
  readonly userId: string;
  readonly email: string;
}

/** Signs in, and reads the person's id. */
export async function personAt(service: TestService, email: string): Promise<Person> {
  const client = await service.signIn(email);
  const me = await client.request("GET", "/api/sessions/me");
  return { ...client, userId: String(me.body?.userId), email };
}

/** Returns the token of the last invite link in the log for an address. Throws if there is none. */
export function loggedInvite(service: TestService, email: string): string {
  const found = service.logLines.flatMap((line) => {
    const [, to, token] = /invite for (\S+): .*\/invites\/([\w-]{43})/.exec(line) ?? [];
    return to === email && token !== undefined ? [token] : [];
  });
  const last = found.at(-1);
  if (last === undefined) throw new Error(`no invite for ${email} is in the log`);
  return last;
}

/** Invites an email address to the workspace `acme`, signs in with this address, and accepts the invite. */
export async function join(
  service: TestService,
  inviter: Client,
  email: string,
  terms: { readonly role?: "admin" | "member"; readonly teams?: readonly string[] } = {},
): Promise<Person> {
  const invited = await inviter.request("POST", "/api/workspaces/acme/invites", { emails: [email], ...terms });
  if (invited.status !== 200) throw new Error(`inviting answered ${invited.status} ${invited.text}`);
  const person = await personAt(service, email);
  const accepted = await person.request("POST", `/api/invites/${loggedInvite(service, email)}/accept`, {});
  if (accepted.status !== 200) throw new Error(`accepting answered ${accepted.status} ${accepted.text}`);
  return person;
}
