import type { Runtime } from "../../runtime/runtime.js";
import { beginOAuthState, consumeOAuthState, createPkce } from "../access/oauth-state.js";
import type { PersonCaller } from "../caller.js";
import type { AllowList } from "../outbound/allow-list.js";
import type { AuthorizationServers } from "../outbound/oauth-server.js";
import { isRefusal, type Refusal } from "../refusal.js";
import type { Sealer } from "../sealer.js";
import {
  type AuthorizationReturn,
  authorizationAddress,
  findCode,
  type PendingAuthorization,
  parsePendingAuthorization,
  resolveDestination,
} from "./authorization.js";
import type { LinkableConnection } from "./connection.queries.js";
import { findConnectionTarget, type IntegrationConnectionKey } from "./connection-permissions.js";
import type { Grant } from "./oauth.effects.js";

/** Links an account to an integration: the redirect to the host, and the host's response. */

export interface BeginLinkOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly servers: AuthorizationServers;
  readonly allowList: AllowList;
  /** The service's redirect URI, registered at the host character by character. */
  readonly redirectUri: string;
}

/** The address to sign in and consent at, and when the link expires. */
export interface LinkBegun {
  readonly authorizeUrl: string;
  readonly expiresAtMs: number;
}

/** Begins a link in the person's session. Refuses when the integration cannot be linked as it is written. */
export async function beginLink(
  { runtime, sealer, servers, allowList, redirectUri }: BeginLinkOptions,
  { key, person }: LinkableConnection,
): Promise<LinkBegun | Refusal> {
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
    ...{ verifier, redirectUri, issuer, tokenUrl, clientId, namesItself },
    authorizeOrigin: new URL(authorizeUrl).origin,
  };
  const { workspaceId, integrationId, holder } = key;
  const { state, expiresAtMs } = await beginOAuthState(runtime, person, {
    purpose: "integration",
    subject: { workspaceId, integrationId, holder },
    sealed: sealer.seal(JSON.stringify(pending)),
  });
  return { authorizeUrl: authorizationAddress(oauth2, destination, { state, challenge, redirectUri }), expiresAtMs };
}

/** The connection that a link was begun for, and the grant to exchange for its tokens. */
export interface LinkReturn {
  readonly key: IntegrationConnectionKey;
  readonly grant: Grant;
}

/** Reads the host's response and uses up its state. Refuses a response without a code. */
export async function readLinkReturn(
  { runtime, sealer }: Pick<BeginLinkOptions, "runtime" | "sealer">,
  caller: PersonCaller,
  { state, ...returned }: AuthorizationReturn & { readonly state: string },
): Promise<LinkReturn | Refusal> {
  const begun = await consumeOAuthState(runtime, caller, { state, purpose: "integration" });
  if (isRefusal(begun)) return begun;
  const { workspaceId = "", integrationId = "", holder = "" } = begun.subject;
  const pending = parsePendingAuthorization(sealer.open(begun.sealed ?? ""));
  const found = findCode(pending, returned);
  if (isRefusal(found)) return found;
  const { verifier, redirectUri, issuer, tokenUrl, clientId } = pending;
  return {
    key: { workspaceId, integrationId, holder },
    grant: { ...found, verifier, redirectUri, issuer, tokenUrl, clientId },
  };
}
