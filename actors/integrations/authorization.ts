/** The authorization of an account at its host: the request that redirects the user, and the host's response. */
import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { type AllowList, findRefusalReason, maySignInAt } from "../outbound/http/allow-list.js";
import { type AuthorizationServers, ServerUnavailable } from "../outbound/oauth/oauth-server.js";
import type { Refusal } from "../refusal.js";
import { coversAddress } from "../resources/fields.js";
import { findSecretFor } from "../workspaces/secret-hosts.js";
import type { ConnectionTarget } from "./connection-permissions.js";
import { resolveEndpoint } from "./oauth-terms.js";

/** The host's endpoint to which the service redirects the user, and the issuer that the host's response must name. */
export interface Destination {
  readonly authorizeUrl: string;
  /** The host's issuer; null if the definition names none. */
  readonly issuer: string | null;
  /** Whether the host's responses always name their issuer (RFC 9207). */
  readonly namesItself: boolean;
}

export interface DestinationOptions {
  readonly reading: Reading;
  readonly servers: AuthorizationServers;
  readonly allowList: AllowList;
}

/**
 * Returns the endpoint to which to redirect the user. Refuses a definition with a problem that would otherwise appear
 * only after the user's consent, such as a token endpoint that the service must not call.
 */
export async function resolveDestination(
  options: DestinationOptions,
  target: ConnectionTarget,
): Promise<Destination | Refusal> {
  const { oauth2 } = target;
  const { issuer } = oauth2;
  const whyNotAsked = issuer === null ? null : findRefusalReason(issuer, options.allowList);
  if (whyNotAsked !== null) return conflict(`the service sends no request to its issuer: ${whyNotAsked}`);
  try {
    const authorizeUrl = (await resolveEndpoint(oauth2, "authorizeUrl", options.servers)) ?? "";
    const tokenUrl = (await resolveEndpoint(oauth2, "tokenUrl", options.servers)) ?? "";
    if (!maySignInAt(authorizeUrl, options.allowList)) return conflict("authorizeUrl must be https");
    const tokenProblem = whyNoToken(options, target, tokenUrl);
    if (tokenProblem !== null) return conflict(tokenProblem);
    const isDiscovered = issuer !== null && oauth2.authorizeUrl === null;
    return { authorizeUrl, issuer, namesItself: isDiscovered && (await options.servers.read(issuer)).namesItself };
  } catch (error) {
    if (!(error instanceof ServerUnavailable)) throw error;
    return { refused: "refused-upstream", detail: `The host's OAuth metadata is not available: ${error.message}.` };
  }
}

/** Returns why the service could not exchange the code for tokens; null if it could. */
function whyNoToken(
  { reading, allowList }: DestinationOptions,
  target: ConnectionTarget,
  tokenUrl: string,
): string | null {
  const { integration, oauth2 } = target;
  const whyNotAsked = findRefusalReason(tokenUrl, allowList);
  if (whyNotAsked !== null) return `the service sends no token request: ${whyNotAsked}`;
  const url = new URL(tokenUrl);
  if (!coversAddress(integration.fields.hosts, url)) return `the host ${url.host} is not among its hosts`;
  const { clientSecret: secret } = oauth2;
  const found = secret === null ? null : findSecretFor(reading, integration.workspaceId, { secret, url });
  return found !== null && "reason" in found ? found.reason : null;
}

function conflict(reason: string): Refusal {
  return { refused: "conflict", detail: `The integration's definition does not allow linking accounts: ${reason}.` };
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

/** The data to check the host's response and exchange the code. It is stored sealed until the response arrives. */
export type PendingAuthorization = z.output<typeof pendingAuthorizationSchema>;

/** Parses the unsealed JSON text of a pending authorization. Throws if the text is invalid. */
export function parsePendingAuthorization(text: string): PendingAuthorization {
  return pendingAuthorizationSchema.parse(JSON.parse(text));
}

/** The parameters of the host's response that the service reads. */
export interface AuthorizationReturn {
  readonly code: string | undefined;
  readonly iss: string | undefined;
  readonly error: string | undefined;
}

/** Returns the code of the response. Refuses a response that is from another host, reports an error, or has no code. */
export function findCode(
  pending: Pick<PendingAuthorization, "issuer" | "authorizeOrigin" | "namesItself">,
  { code, iss, error }: AuthorizationReturn,
): { readonly code: string } | Refusal {
  const reasonNotFrom = whyNotFrom(pending, iss);
  if (reasonNotFrom !== null) return { refused: "bad-request", detail: reasonNotFrom };
  if (code !== undefined && error === undefined) return { code };
  const reason = error === "access_denied" ? "access was denied" : "it reported an error";
  return { refused: "conflict", detail: `The host did not link the account: ${reason}. Connect it again.` };
}

/**
 * Creates the refusal for a code that could not be exchanged. `reason` is a clause without a capital letter or full
 * stop.
 */
export function notLinked(reason: string): Refusal {
  return { refused: "refused-upstream", detail: `The account was not connected: ${reason}.` };
}

/**
 * Returns why a response is not from the host to which the user was redirected (RFC 9207, 2.4); null if it may be from
 * that host. `iss` is the issuer in the response. If the host's issuer is unknown, `iss` must have the origin of the
 * host's authorization page.
 */
export function whyNotFrom(
  { issuer, authorizeOrigin, namesItself }: Pick<PendingAuthorization, "issuer" | "authorizeOrigin" | "namesItself">,
  iss: string | undefined,
): string | null {
  if (iss === undefined) return namesItself ? "iss is missing, but this host always sends it" : null;
  const isFrom = issuer === null ? URL.canParse(iss) && new URL(iss).origin === authorizeOrigin : iss === issuer;
  return isFrom ? null : "iss is not the host where you signed in";
}
