import { findSessionCaller } from "../actors/access/session.queries.js";
import { findTokenCaller } from "../actors/access/workspace-token.queries.js";
import type { Caller } from "../actors/caller.js";
import type { Refusal } from "../actors/refusal.js";
import { sha256Hex } from "../actors/sealer.js";
import type { Runtime } from "../runtime/runtime.js";
import type { ExpiredCredentials } from "./access/expired-credentials.js";
import type { Credentials } from "./transport/entry.js";

/** The name of the session cookie. */
export const SESSION_COOKIE = "session";

/**
 * The caller of a request: null without a credential, a refusal for an invalid one. Credentials are looked up by their
 * hash, so the time does not depend on how much of a guess is right. A bearer token takes precedence over a cookie. A
 * write with a cookie must come from our own pages (`Origin`) or from no page.
 */
export function authenticate(
  request: Credentials,
  { reading, clock }: Pick<Runtime, "reading" | "clock">,
  expired: ExpiredCredentials,
  origin: string,
): Caller | null | Refusal {
  const authorization = request.header("authorization");
  if (authorization !== undefined) {
    const token = bearerToken(authorization);
    const hash = token === null ? null : sha256Hex(token);
    const caller = hash === null || expired.has(hash) ? null : findTokenCaller(reading, hash, clock.now());
    if (caller === null && hash !== null && !expired.has(hash)) expired.refusedToken(hash);
    return caller ?? { refused: "unauthenticated", detail: "The token is not valid, or it was revoked or expired." };
  }
  const cookie = sessionToken(request.header("cookie"));
  if (cookie === null) return null;
  const hash = sha256Hex(cookie);
  const caller = expired.has(hash) ? null : findSessionCaller(reading, hash, clock.now());
  if (caller === null && !expired.has(hash)) expired.refusedSession(hash);
  if (caller === null) return { refused: "unauthenticated", detail: "The session is over: sign in again." };
  const from = request.header("origin");
  const writes = request.method !== "GET" && request.method !== "HEAD";
  if (writes && from !== undefined && from !== origin) {
    return { refused: "forbidden", title: "Not allowed from this page", detail: "Origin must be this service's own." };
  }
  return caller;
}

/** The token of an `Authorization: Bearer` header, or null. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(authorization ?? "")?.[1] ?? null;
}

/** The session token of a `Cookie` header, or null. */
export function sessionToken(cookies: string | undefined): string | null {
  for (const pair of (cookies ?? "").split(";")) {
    const [name, value] = pair.trim().split("=", 2);
    if (name === SESSION_COOKIE && value !== undefined && /^[A-Za-z0-9_-]{20,100}$/.test(value)) return value;
  }
  return null;
}
