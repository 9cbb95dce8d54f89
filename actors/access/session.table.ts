import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { PersonCaller } from "./caller.js";

/** How long a sign-in link admits, in milliseconds. */
export const SIGN_IN_LINK_MS = 15 * 60 * 1_000;
/** How long a session lasts, in milliseconds. */
export const SESSION_MS = 30 * 24 * 60 * 60 * 1_000;

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

/** The person signed in under a session token's SHA-256 (hex); null when there is none or it is over. */
export function findSessionCaller(reading: Reading, tokenHash: string, nowMs: number): PersonCaller | null {
  const session = sessions.get(reading, GLOBAL_PARTITION, tokenHash);
  if (session === undefined || session.expiresAtMs <= nowMs) return null;
  const { userId, email, sessionId } = session;
  return { kind: "person", userId, email, sessionId };
}

/** The person, or undefined. */
export function findUser(reading: Reading, userId: string): User | undefined {
  return users.get(reading, GLOBAL_PARTITION, userId);
}

/** The address a live sign-in link was sent to, or null. */
export function findEmailByLink(reading: Reading, tokenHash: string, nowMs: number): string | null {
  const link = signInLinks.get(reading, GLOBAL_PARTITION, tokenHash);
  return link === undefined || link.expiresAtMs <= nowMs ? null : link.email;
}
