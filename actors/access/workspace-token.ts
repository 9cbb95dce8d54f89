import type { Reading } from "../../storage/store.js";
import { resourceByHash } from "../resources/hash-index.js";
import { resourceById } from "../resources/resource-rows.js";
import type { TokenCaller } from "./caller.js";
import { liveCredential } from "./minted-credentials.js";
import type { WorkspaceTokenFields } from "./workspace-token.kind.js";

/**
 * The bearer of a token by its SHA-256 (hex), issued or minted; null for one that is unknown, revoked, expired, of a
 * trust that changed since, or of a closed workspace.
 */
export function callerOfToken(reading: Reading, tokenHash: string, nowMs: number): TokenCaller | null {
  return callerOfIssued(reading, tokenHash, nowMs) ?? callerOfMinted(reading, tokenHash, nowMs);
}

function callerOfMinted(reading: Reading, tokenHash: string, nowMs: number): TokenCaller | null {
  const minted = liveCredential(reading, tokenHash, nowMs);
  if (minted?.grant.kind !== "token") return null;
  const { id: tokenId, workspaceId, trustId: trust } = minted;
  const { scopes, issuedBy } = minted.grant;
  return { kind: "token", tokenId, workspaceId, scopes, issuedBy, trust };
}

function callerOfIssued(reading: Reading, tokenHash: string, nowMs: number): TokenCaller | null {
  const place = resourceByHash(reading, "workspace-token", tokenHash);
  if (place === undefined) return null;
  const { workspaceId, id } = place;
  const token = resourceById<WorkspaceTokenFields>(reading, workspaceId, "workspace-token", id);
  if (token === undefined || resourceById(reading, workspaceId, "workspace", workspaceId) === undefined) return null;
  const { expiresAt, scopes } = token.fields;
  if (expiresAt !== null && Date.parse(expiresAt) <= nowMs) return null;
  return { kind: "token", tokenId: id, workspaceId, scopes, issuedBy: String(token.added.issuedBy), trust: null };
}
