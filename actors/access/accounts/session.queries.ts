import { GLOBAL_PARTITION } from "../../../storage/keys.js";
import type { Reading } from "../../../storage/store.js";
import type { PersonCaller } from "../../caller.js";
import type { User } from "./session.js";
import { sessions, signInLinks, users } from "./session.table.js";

/** Lifetime of a session, in milliseconds. */
export const SESSION_MS = 30 * 24 * 60 * 60 * 1_000;

/**
 * Finds the signed-in user by the SHA-256 (hex) of the session token; null if there is no such session or it has
 * expired.
 */
export function findSessionCaller(reading: Reading, tokenHash: string, nowMs: number): PersonCaller | null {
  const session = sessions.get(reading, GLOBAL_PARTITION, tokenHash);
  if (session === undefined || session.expiresAtMs <= nowMs) return null;
  const { userId, email, sessionId } = session;
  return { kind: "person", userId, email, sessionId };
}

/** If the session with this token hash has expired, returns its user's mail address; otherwise null. */
export function findExpiredSession(reading: Reading, tokenHash: string, nowMs: number): string | null {
  const session = sessions.get(reading, GLOBAL_PARTITION, tokenHash);
  return session !== undefined && session.expiresAtMs <= nowMs ? session.email : null;
}

/** Finds the user with this id; undefined if there is none. */
export function findUser(reading: Reading, userId: string): User | undefined {
  return users.get(reading, GLOBAL_PARTITION, userId);
}

/** Returns the address that a valid sign-in link was sent to, or null. */
export function findEmailByLink(reading: Reading, tokenHash: string, nowMs: number): string | null {
  const link = signInLinks.get(reading, GLOBAL_PARTITION, tokenHash);
  return link === undefined || link.expiresAtMs <= nowMs ? null : link.email;
}
