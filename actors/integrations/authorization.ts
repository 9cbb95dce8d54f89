/** A person's authorization at the host: where they are sent (RFC 6749, 4.1.1), and whether they come from there. */
import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { type AllowList, findRefusalReason, maySignInAt } from "../outbound/allow-list.js";
import { type AuthorizationServers, ServerUnavailable } from "../outbound/oauth-server.js";
import type { Refusal } from "../refusal.js";
import { coversAddress } from "../resources/fields.js";
import { findSecretFor } from "../workspaces/secret-hosts.js";
import type { ConnectionTarget } from "./connection-permissions.js";
import { resolveEndpoint } from "./oauth-terms.js";
import type { OAuth2 } from "./oauth2.js";

/** Where a person is sent, and the issuer expected on the way back. */
export interface Destination {
  readonly authorizeUrl: string;
  /** The host's issuer, or null. */
  readonly issuer: string | null;
  /** Whether the host's answer always names its issuer (RFC 9207). */
  readonly namesItself: boolean;
}

export interface DestinationOptions {
  readonly reading: Reading;
  readonly servers: AuthorizationServers;
  readonly allowList: AllowList;
}

/** Where to send a person, or why not: what would fail on the way back is reported before they leave. */
export async function resolveDestination(
  options: DestinationOptions,
  standing: ConnectionTarget,
): Promise<Destination | Refusal> {
  const { oauth2 } = standing;
  const { issuer } = oauth2;
  const unasked = issuer === null ? null : findRefusalReason(issuer, options.allowList);
  if (unasked !== null) return conflict(`its issuer is not asked: ${unasked}`);
  try {
    const authorizeUrl = (await resolveEndpoint(oauth2, "authorizeUrl", options.servers)) ?? "";
    const tokenUrl = (await resolveEndpoint(oauth2, "tokenUrl", options.servers)) ?? "";
    if (!maySignInAt(authorizeUrl, options.allowList)) return conflict("people are sent to https alone");
    const unsent = whyNoToken(options, standing, tokenUrl);
    if (unsent !== null) return conflict(unsent);
    const isDiscovered = issuer !== null && oauth2.authorizeUrl === null;
    return { authorizeUrl, issuer, namesItself: isDiscovered && (await options.servers.of(issuer)).namesItself };
  } catch (error) {
    if (!(error instanceof ServerUnavailable)) throw error;
    return { refused: "refused-upstream", detail: `The host cannot be asked how it links accounts: ${error.message}.` };
  }
}

/** Why the code could not be sent to the host for tokens, or null. */
function whyNoToken(
  { reading, allowList }: DestinationOptions,
  standing: ConnectionTarget,
  tokenUrl: string,
): string | null {
  const { integration, oauth2 } = standing;
  const unsent = findRefusalReason(tokenUrl, allowList);
  if (unsent !== null) return `its tokens are not asked for: ${unsent}`;
  const url = new URL(tokenUrl);
  if (!coversAddress(integration.fields.hosts, url)) return `the host ${url.host} is not among its hosts`;
  const { clientSecret: secret } = oauth2;
  const found = secret === null ? null : findSecretFor(reading, integration.workspaceId, { secret, url });
  return found !== null && "reason" in found ? found.reason : null;
}

function conflict(reason: string): Refusal {
  return { refused: "conflict", detail: `The integration's accounts cannot be linked as it is written: ${reason}.` };
}

/** The address that a person is sent to. `challenge` is the PKCE challenge (RFC 7636, S256). */
export function authorizationAddress(
  { clientId, scopes, parameters }: OAuth2,
  { authorizeUrl }: Destination,
  own: { readonly state: string; readonly challenge: string; readonly redirectUri: string },
): string {
  const url = new URL(authorizeUrl);
  const all: Readonly<Record<string, string>> = {
    ...parameters,
    ...{ response_type: "code", client_id: clientId, redirect_uri: own.redirectUri, state: own.state },
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    ...{ code_challenge: own.challenge, code_challenge_method: "S256" },
  };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return url.href;
}

const pendingAuthorizationSchema = z.strictObject({
  verifier: z.string(),
  redirectUri: z.string(),
  issuer: z.string().nullable(),
  tokenUrl: z.string().nullable(),
  clientId: z.string(),
  authorizeOrigin: z.string(),
  namesItself: z.boolean(),
});

/** What the way back needs, stored sealed in between. */
export type PendingAuthorization = z.output<typeof pendingAuthorizationSchema>;

/** Parses what was sealed as JSON. */
export function parsePendingAuthorization(text: string): PendingAuthorization {
  return pendingAuthorizationSchema.parse(JSON.parse(text));
}

/** What a person brings back. */
export interface AuthorizationReturn {
  readonly code: string | undefined;
  /** The issuer that the answer names. */
  readonly iss: string | undefined;
  readonly error: string | undefined;
}

/** The code that a person brings back, or why there is none. */
export function findCode(
  pending: Pick<PendingAuthorization, "issuer" | "authorizeOrigin" | "namesItself">,
  { code, iss, error }: AuthorizationReturn,
): { readonly code: string } | Refusal {
  const strange = whyNotFrom(pending, iss);
  if (strange !== null) return { refused: "bad-request", detail: strange };
  if (code !== undefined && error === undefined) return { code };
  const reason = error === "access_denied" ? "access was denied" : "it says that something is wrong";
  return { refused: "conflict", detail: `The host did not link the account: ${reason}. Connect it again.` };
}

/** Why the code led to no connection. */
export function notLinked(reason: string): Refusal {
  return { refused: "refused-upstream", detail: `The account was not connected: ${reason}.` };
}

/**
 * Why an answer is not from the host that the person was sent to, or null (RFC 9207, 2.4). A host whose issuer is not
 * known is identified by its address.
 */
export function whyNotFrom(
  { issuer, authorizeOrigin, namesItself }: Pick<PendingAuthorization, "issuer" | "authorizeOrigin" | "namesItself">,
  iss: string | undefined,
): string | null {
  if (iss === undefined) return namesItself ? "iss is missing: the host always names itself" : null;
  const isFrom = issuer === null ? URL.canParse(iss) && new URL(iss).origin === authorizeOrigin : iss === issuer;
  return isFrom ? null : "iss is not the host that you were sent to";
}
