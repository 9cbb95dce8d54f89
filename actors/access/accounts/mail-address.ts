import { z } from "zod";

/** A mail address, normalised to lower case. */
export const mailAddress = z
  .email("must be a mail address")
  .max(254, "must be at most 254 characters")
  .transform((text) => text.toLowerCase());

/** Returns whether users with this address may sign in. Null domains allow any address. */
export function maySignIn(address: string, domains: readonly string[] | null): boolean {
  return domains === null || domains.includes(address.slice(address.lastIndexOf("@") + 1));
}
