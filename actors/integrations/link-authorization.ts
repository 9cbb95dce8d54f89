import type { Runtime } from "../../runtime/runtime.js";
import { beginOAuthState, consumeOAuthState, createPkce } from "../access/oauth-states/oauth-state.js";
import type { PersonCaller } from "../caller.js";
import type { AllowList } from "../outbound/http/allow-list.js";
import { authorizationUrl } from "../outbound/oauth/authorization-url.js";
import type { AuthorizationServers } from "../outbound/oauth/oauth-server.js";
import { isRefusal, type Refusal } from "../refusal.js";
import type { Sealer } from "../sealer.js";
import {
  type AuthorizationReturn,
  findCode,
  type PendingAuthorization,
  parsePendingAuthorization,
  resolveDestination,
} from "./authorization.js";
import type { LinkableConnection } from "./connection.queries.js";
import { findConnectionTarget, type IntegrationConnectionKey } from "./connection-permissions.js";
import type { Grant } from "./oauth.effects.js";

/** Starts to link an account to an integration, and reads the host's response. */

/** The services and settings for the start of a link. */
export interface BeginLinkOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly servers: AuthorizationServers;
  readonly allowList: AllowList;
  /** The service's redirect URI, exactly as registered at the host. */
  readonly redirectUri: string;
}

/** The URL where the user signs in and consents, and when the link expires. */
export interface LinkStarted {
  readonly authorizeUrl: string;
  readonly expiresAtMs: number;
}

/** Starts a link in the user's session. Refuses if the definition does not allow a link. */
export async function beginLink(
  { runtime, sealer, servers, allowList, redirectUri }: BeginLinkOptions,
  { key, person }: LinkableConnection,
): Promise<LinkStarted | Refusal> {
  const { reading } = runtime;
  const target = findConnectionTarget(reading, key);
  if (target === null) return { refused: "not-found" };
  const { oauth2 } = target;
  const destination = await resolveDestination({ reading, servers, allowList }, target);
  if (isRefusal(destination)) return destination;
  const { verifier, challenge } = createPkce(runtime);
  const { issuer, tokenUrl, clientId } = oauth2;
  const { authorizeUrl, namesItself } = destination;
  const pending: PendingAuthorization = {
    verifier,
    redirectUri,
    issuer,
    tokenUrl,
    clientId,
    namesItself,
    authorizeOrigin: new URL(authorizeUrl).origin,
  };
  const { workspaceId, integrationId, holder } = key;
  const { state, expiresAtMs } = await beginOAuthState(runtime, person, {
    purpose: "integration",
    subject: { workspaceId, integrationId, holder },
    sealed: sealer.seal(JSON.stringify(pending)),
  });
  const { scopes, parameters } = oauth2;
  const request = { clientId, redirectUri, state, challenge, scopes, parameters };
  return { authorizeUrl: authorizationUrl(authorizeUrl, request), expiresAtMs };
}

/** The connection for which a link was started, and the grant to exchange for its tokens. */
export interface LinkReturn {
  readonly key: IntegrationConnectionKey;
  readonly grant: Grant;
}

/** Reads the host's response and consumes its OAuth state. Refuses a response without a code. */
export async function readLinkReturn(
  { runtime, sealer }: Pick<BeginLinkOptions, "runtime" | "sealer">,
  caller: PersonCaller,
  { state, ...returned }: AuthorizationReturn & { readonly state: string },
): Promise<LinkReturn | Refusal> {
  const started = await consumeOAuthState(runtime, caller, { state, purpose: "integration" });
  if (isRefusal(started)) return started;
  const { workspaceId = "", integrationId = "", holder = "" } = started.subject;
  const pending = parsePendingAuthorization(sealer.open(started.sealed ?? ""));
  const found = findCode(pending, returned);
  if (isRefusal(found)) return found;
  const { verifier, redirectUri, issuer, tokenUrl, clientId } = pending;
  return {
    key: { workspaceId, integrationId, holder },
    grant: { ...found, verifier, redirectUri, issuer, tokenUrl, clientId },
  };
}
