import { findSessionCaller } from "../../actors/access/accounts/session.queries.js";
import { findTokenCaller } from "../../actors/access/tokens/workspace-token.queries.js";
import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { sha256Hex } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { CallerNow, Credentials } from "../transport/entry.js";
import type { ExpiredCredentials } from "./expired-credentials.js";

export const SESSION_COOKIE = "session";

/**
 * The credential of a request. `hash` is the SHA-256 (hex) of the token in it; null if the `Authorization` header is
 * not `Bearer` with a well-formed token.
 */
export interface Credential {
  readonly kind: "token" | "session";
  readonly hash: string | null;
}

/**
 * Reads the credential of a request. Returns a function that finds the current caller at each call. This function
 * returns null if the request has no credential. It returns a refusal if the credential is invalid, or if a request
 * with a session cookie writes and its `Origin` header names another site.
 */
export function authenticate(
  request: Credentials,
  runtime: Pick<Runtime, "reading" | "clock">,
  expired: ExpiredCredentials,
  origin: string,
): CallerNow {
  const credential = readCredential(request);
  if (credential === null) return () => null;
  const isForeign = credential.kind === "session" && isWriteFromElsewhere(request, origin);
  return () => {
    const caller = findCaller(credential, runtime, expired);
    return isForeign && !isRefusal(caller) ? fromForeignPage(origin) : caller;
  };
}

function fromForeignPage(origin: string): Refusal {
  const detail = `Origin must be this service's own, ${origin}. If that is not its public address, set BASE_URL.`;
  return { refused: "forbidden", title: "Not allowed from this page", detail };
}

const NO_TOKEN: Refusal = { refused: "unauthenticated", detail: "The header Authorization must be Bearer <token>." };

function isWriteFromElsewhere(request: Credentials, origin: string): boolean {
  if (request.method === "GET" || request.method === "HEAD") return false;
  const from = request.header("origin");
  return from !== undefined && from !== origin;
}

/** Returns the credential of a request, or null. A bearer token takes precedence over a cookie. */
export function readCredential(request: Pick<Credentials, "header">): Credential | null {
  const authorization = request.header("authorization");
  if (authorization !== undefined) {
    const token = bearerToken(authorization);
    return { kind: "token", hash: token === null ? null : sha256Hex(token) };
  }
  const cookie = sessionToken(request.header("cookie"));
  return cookie === null ? null : { kind: "session", hash: sha256Hex(cookie) };
}

/**
 * Returns the current holder of a credential, or a refusal if the credential is invalid. The lookup is by hash, so the
 * response time does not reveal how much of a guessed token is right.
 */
export function findCaller(
  { kind, hash }: Credential,
  { reading, clock }: Pick<Runtime, "reading" | "clock">,
  expired: ExpiredCredentials,
): Caller | Refusal {
  if (kind === "token" && hash === null) return NO_TOKEN;
  const isKnown = hash !== null && !expired.has(hash);
  if (kind === "token") {
    const caller = isKnown ? findTokenCaller(reading, hash, clock.now()) : null;
    if (caller === null && isKnown) expired.refusedToken(hash);
    return caller ?? { refused: "unauthenticated", detail: "The token is not valid, or it was revoked or expired." };
  }
  const caller = isKnown ? findSessionCaller(reading, hash, clock.now()) : null;
  if (caller === null && isKnown) expired.refusedSession(hash);
  return caller ?? { refused: "unauthenticated", detail: "The session has expired: sign in again." };
}

/** Returns the token of an `Authorization: Bearer` header, or null. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(authorization ?? "")?.[1] ?? null;
}

/** Returns the session token of a `Cookie` header, or null. */
export function sessionToken(cookies: string | undefined): string | null {
  if (cookies === undefined) return null;
  for (const pair of cookies.split(";")) {
    const [name, value] = pair.trim().split("=", 2);
    if (name === SESSION_COOKIE && value !== undefined && /^[A-Za-z0-9_-]{20,100}$/.test(value)) return value;
  }
  return null;
}
