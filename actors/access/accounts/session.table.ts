import { table } from "../../../storage/table.js";
import type { User } from "./session.js";

/** Lifetime of a sign-in link, in milliseconds. */
export const SIGN_IN_LINK_MS = 15 * 60 * 1_000;
interface Session {
  readonly sessionId: string;
  readonly userId: string;
  readonly email: string;
  readonly expiresAtMs: number;
}

/** Key: `[user]`. */
export const users = table<User>("user");
/** Key: `[hash of the token]`. */
export const sessions = table<Session>("session");
/** Key: `[hash of the token]`. Value: the address that the link was sent to, and its expiry. */
export const signInLinks = table<{ readonly email: string; readonly expiresAtMs: number }>("sign-in-link");
