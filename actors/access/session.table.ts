import { table } from "../../storage/table.js";

/** Lifetime of a sign-in link, in milliseconds. */
export const SIGN_IN_LINK_MS = 15 * 60 * 1_000;
/** A person with an account. */
export interface User {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
}

interface Session {
  readonly sessionId: string;
  readonly userId: string;
  readonly email: string;
  readonly expiresAtMs: number;
}

/** `[user]` */
export const users = table<User>("user");
/** `[hash of the token]` */
export const sessions = table<Session>("session");
/** `[hash of the token]` -> the address the link was sent to. */
export const signInLinks = table<{ readonly email: string; readonly expiresAtMs: number }>("sign-in-link");
