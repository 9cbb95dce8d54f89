import type { Reading } from "../../../storage/store.js";
import type { Caller, TokenCaller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../../resources/resource.table.js";
import { findResourceByHash } from "../../resources/resource-hash.table.js";
import { findLiveCredential, hasExpiredCredential, isCredentialLive } from "./minted-credential.table.js";
import { TOKEN_FIELD, type WorkspaceTokenFields } from "./workspace-token.kind.js";

/** The row of an issued token. */
export type IssuedToken = ResourceRow<WorkspaceTokenFields>;

/**
 * Finds the bearer of an issued or minted token by its SHA-256 (hex). Null if the token is unknown, revoked or expired,
 * if its trust has changed since, or if its workspace is closed.
 */
export function findTokenCaller(reading: Reading, tokenHash: string, nowMs: number): TokenCaller | null {
  return findIssuedCaller(reading, tokenHash, nowMs) ?? findMintedCaller(reading, tokenHash, nowMs);
}

/**
 * Returns whether the token of a request has become invalid since the request arrived: it was revoked, it expired, or
 * its trust changed.
 */
function isTokenOver(reading: Reading, { workspaceId, tokenId, trust }: TokenCaller, nowMs: number): boolean {
  if (trust !== null) return !isCredentialLive(reading, workspaceId, { trustId: trust, id: tokenId }, nowMs);
  const token = findResource<WorkspaceTokenFields>(reading, workspaceId, "workspace-token", tokenId);
  return token === undefined || token.hidden[TOKEN_FIELD] === undefined || hasExpired(token, nowMs);
}

/** Refuses a token that became invalid after its request arrived ({@link isTokenOver}). Null for any other caller. */
export function refuseEndedToken(reading: Reading, caller: Caller, nowMs: number): Refusal | null {
  return caller.kind === "token" && isTokenOver(reading, caller, nowMs)
    ? { refused: "unauthenticated", detail: "The token was revoked, or it has expired." }
    : null;
}

/** A token with its name, for users who read about the token's actions. */
export interface NamedToken {
  readonly tokenId: string;
  /** The name of an issued token; the trust's key for a minted token. */
  readonly name: string;
  /** The id of the trust that minted the token; null for an issued token. */
  readonly trust: string | null;
}

/** Returns the token with its name. If the token or its trust no longer exists, the name is the token's id. */
export function nameToken(reading: Reading, caller: TokenCaller): NamedToken {
  const { workspaceId, tokenId, trust } = caller;
  const named =
    trust === null
      ? findIssuedToken(reading, caller)
      : findResource(reading, workspaceId, "workspace-token-trust", trust);
  return { tokenId, name: named?.address ?? tokenId, trust };
}

/**
 * An expired token. An issued token is identified by its workspace and id, to remove it. For a minted token no ids are
 * needed, because the actor of its trust removes it.
 */
export type ExpiredToken =
  | { readonly isMinted: false; readonly workspaceId: string; readonly id: string }
  | { readonly isMinted: true };

/** Finds the row of an issued token; undefined for a minted token, or if the issued token no longer exists. */
export function findIssuedToken(reading: Reading, { workspaceId, tokenId }: TokenCaller): IssuedToken | undefined {
  return findResource<WorkspaceTokenFields>(reading, workspaceId, "workspace-token", tokenId);
}

/**
 * Returns whether an issued token is still valid: its row is the same object as before, and the token has not expired.
 * Costs one read.
 */
export function isSameToken(reading: Reading, token: IssuedToken, nowMs: number): boolean {
  return findResource(reading, token.workspaceId, "workspace-token", token.id) === token && !hasExpired(token, nowMs);
}

/** Finds the token with this hash if the token has expired; otherwise null. */
export function findExpiredToken(reading: Reading, tokenHash: string, nowMs: number): ExpiredToken | null {
  const token = findResourceByHash<WorkspaceTokenFields>(reading, "workspace-token", tokenHash);
  if (token === undefined) return hasExpiredCredential(reading, tokenHash, nowMs) ? { isMinted: true } : null;
  return hasExpired(token, nowMs) ? { isMinted: false, workspaceId: token.workspaceId, id: token.id } : null;
}

/** Returns whether an issued token has expired. */
export function hasExpired({ fields: { expiresAt } }: IssuedToken, nowMs: number): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs;
}

function findMintedCaller(reading: Reading, tokenHash: string, nowMs: number): TokenCaller | null {
  const minted = findLiveCredential(reading, tokenHash, nowMs);
  if (minted?.grant.kind !== "token") return null;
  const { id: tokenId, workspaceId, trustId: trust } = minted;
  const { scopes, issuedBy } = minted.grant;
  return { kind: "token", tokenId, workspaceId, scopes, issuedBy, trust };
}

function findIssuedCaller(reading: Reading, tokenHash: string, nowMs: number): TokenCaller | null {
  const token = findResourceByHash<WorkspaceTokenFields>(reading, "workspace-token", tokenHash);
  if (token === undefined || hasExpired(token, nowMs)) return null;
  const { workspaceId, id } = token;
  if (!isWorkspaceOpen(reading, workspaceId)) return null;
  const { scopes } = token.fields;
  return { kind: "token", tokenId: id, workspaceId, scopes, issuedBy: String(token.added.issuedBy), trust: null };
}
