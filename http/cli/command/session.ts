import type { Client } from "../../client/entry.js";
import { CommandError } from "./exit-codes.js";

/** Exchanges the token of a sign-in link. Returns the cookie of the session, as `name=value`. */
export async function openSession(client: Client, token: string): Promise<string> {
  const { headers } = await client.send("post", "/api/sessions", { body: { token } });
  const cookie = headers.getSetCookie()[0]?.split(";")[0];
  if (cookie === undefined) throw new CommandError("the service did not return a session");
  return cookie;
}

/** Returns the token at the end of a sign-in link. A token without the rest of the link is returned as it is. */
export function toLinkToken(link: string): string {
  return link.trim().split(/[?#]/)[0]?.replace(/\/+$/, "").split("/").at(-1) ?? "";
}
