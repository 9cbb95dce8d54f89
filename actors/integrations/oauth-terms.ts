import { isDeepStrictEqual } from "node:util";
import type { AuthorizationServers } from "../outbound/oauth/oauth-server.js";
import type { LinkedTerms } from "./connection.js";
import type { IntegrationFields } from "./definition.js";
import type { OAuth2 } from "./oauth2.js";

/** Returns the terms of this definition, to which tokens are bound when an account is linked. */
export function toLinkedTerms(
  { issuer, tokenUrl, revokeUrl, clientId, clientSecret, clientAuth }: OAuth2,
  { hosts }: Pick<IntegrationFields, "hosts">,
): LinkedTerms {
  return { issuer, tokenUrl, revokeUrl, clientId, clientSecret, clientAuth, hosts };
}

/** Identifies a host and its client. */
type OAuthServerTerms = Pick<OAuth2, "issuer" | "tokenUrl" | "clientId">;

/**
 * Returns whether both terms have the same host and client. If not, the service must not send tokens that were linked
 * under one of the terms under the other.
 */
export function isSameServer(one: OAuthServerTerms, other: OAuthServerTerms): boolean {
  return isDeepStrictEqual([one.issuer, one.tokenUrl, one.clientId], [other.issuer, other.tokenUrl, other.clientId]);
}

/**
 * Returns the endpoint from the definition, or else from the issuer's metadata; null if neither has the endpoint.
 * Rejects if the metadata is needed but unavailable.
 */
export async function resolveEndpoint<Name extends "authorizeUrl" | "tokenUrl" | "revokeUrl">(
  oauth2: Pick<OAuth2, "issuer" | Name>,
  name: Name,
  servers: AuthorizationServers,
): Promise<string | null> {
  const given: string | null = oauth2[name];
  if (given !== null || oauth2.issuer === null) return given;
  return (await servers.read(oauth2.issuer))[name];
}
