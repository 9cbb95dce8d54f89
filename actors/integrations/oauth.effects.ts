/**
 * Effects that send the OAuth requests of connections: they exchange a user's code for tokens, refresh tokens, and
 * revoke tokens. Requests go only to those hosts of the integration that the deployment allows. The client secret is
 * sent only to the hosts to which it is bound. Inputs and outputs contain codes and tokens only in sealed form. The
 * reason of a failure never contains a code or token.
 */

import { z } from "zod";
import type { Effect, EffectContext } from "../../runtime/cells/actor-type.js";
import type { Clock } from "../../runtime/clock.js";
import { effect, madeOnce } from "../../runtime/effects/effect-type.js";
import type { RunSignal } from "../../runtime/effects/run-signal.js";
import type { RuntimeLog } from "../../runtime/runtime.js";
import type { Reading } from "../../storage/store.js";
import { DYN } from "../expressions/cel-types.js";
import { evaluateText } from "../expressions/templates.js";
import { toValue } from "../expressions/values.js";
import { parseJson } from "../outbound/http/json-answer.js";
import { accountLane } from "../outbound/http/lanes.js";
import type { Outbound } from "../outbound/http/request.js";
import { type AuthorizationServers, OAUTH_REQUEST_MS, ServerUnavailable } from "../outbound/oauth/oauth-server.js";
import { askForTokens, type OAuthClient, revokeToken, type Tokens } from "../outbound/oauth/oauth-tokens.js";
import { coversAddress } from "../resources/fields.js";
import { isWorkspaceOpen } from "../resources/resource.table.js";
import type { Sealer } from "../sealer.js";
import { findSecretFor } from "../workspaces/secret-hosts.js";
import type { LinkedAccount, LinkedTerms } from "./connection.js";
import { findIntegrationConnection } from "./connection.table.js";
import { findConnectionTarget, type IntegrationConnectionKey } from "./connection-permissions.js";
import { openTokens } from "./connection-tokens.js";
import { isSameServer, resolveEndpoint, toLinkedTerms } from "./oauth-terms.js";

export const EXCHANGE_EFFECT = effect<ExchangeInput, LinkOutcome>("oauth-exchange");
export const REFRESH_EFFECT = effect<IntegrationConnectionKey, LinkOutcome>("oauth-refresh");
export const REVOKE_EFFECT = effect<RevokeInput, LinkOutcome | null>("oauth-revoke");

/** Maximum length of a stored account name, in characters. */
const MAX_ACCOUNT = 255;

const grantSchema = z.strictObject({
  code: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  issuer: z.string().nullable(),
  tokenUrl: z.string().nullable(),
  clientId: z.string(),
});

/** The code from the host's response, with the data that was stored when the link started. */
export type Grant = z.output<typeof grantSchema>;

/** Seals a grant as input for {@link EXCHANGE_EFFECT}. */
export function sealGrant(sealer: Pick<Sealer, "seal">, grant: Grant): string {
  return sealer.seal(JSON.stringify(grant));
}

export interface ExchangeInput extends IntegrationConnectionKey {
  readonly sealedGrant: string;
}

export interface RevokeInput {
  readonly workspaceId: string;
  readonly sealed: string;
  readonly terms: LinkedTerms;
}

/** The result of an exchange or a refresh. `isFinal` is true if a retry cannot succeed. */
export type LinkOutcome =
  | ({ readonly ok: true } & LinkedAccount)
  | { readonly ok: false; readonly isFinal: boolean; readonly reason: string };

export interface OAuthEffectOptions {
  readonly reading: () => Reading;
  readonly outbound: Pick<Outbound, "get" | "post">;
  readonly servers: AuthorizationServers;
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Receives only the name of an unexpected error: its message may contain unsealed data. */
  readonly log: Pick<RuntimeLog, "error">;
}

/** Creates the effects for exchange, refresh and revocation. No effect rejects. */
export function oauthEffects(options: OAuthEffectOptions): readonly Effect[] {
  const failed = (id: string, error: unknown): void =>
    options.log.error("a connection's request to its host failed", { id, error: toName(error) });
  const run =
    <Input, Output>(work: (options: OAuthEffectOptions, input: Input, signal: RunSignal) => Promise<Output>) =>
    (input: Input, { id, signal }: EffectContext & { readonly signal: RunSignal }) =>
      toOutcome(work(options, input, signal), (error) => failed(id, error));
  // The exchange and the refresh run only once, because a code and most refresh tokens work only once. If the host has
  // already answered, it would refuse a retry.
  return [
    madeOnce(EXCHANGE_EFFECT.implement(accountLane, run(exchange), ({ integrationId }) => integrationId)),
    madeOnce(REFRESH_EFFECT.implement(accountLane, run(refresh), ({ integrationId }) => integrationId)),
    REVOKE_EFFECT.implement(accountLane, run(revoke), ({ terms }) => terms.hosts.join(" ")),
  ];
}

/** Thrown if a request is not sent. The message is the reason. */
class RequestNotMade extends Error {
  override readonly name = "RequestNotMade";
}

/**
 * Converts an expected failure to a result with the failure's reason. For any other error, calls `failed` and returns a
 * result with a general reason.
 */
async function toOutcome<Output>(
  work: Promise<Output>,
  failed: (error: unknown) => void,
): Promise<Output | Extract<LinkOutcome, { readonly ok: false }>> {
  try {
    return await work;
  } catch (error) {
    const isKnown = error instanceof RequestNotMade || error instanceof ServerUnavailable;
    if (!isKnown) failed(error);
    return { ok: false, isFinal: false, reason: isKnown ? error.message : "it went wrong" };
  }
}

function toName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

async function exchange(options: OAuthEffectOptions, input: ExchangeInput, signal: RunSignal): Promise<LinkOutcome> {
  const target = findConnectionTarget(options.reading(), input);
  const grant = grantSchema.parse(JSON.parse(options.sealer.open(input.sealedGrant)));
  if (target === null || !isSameServer(grant, target.oauth2)) {
    return { ok: false, isFinal: true, reason: "the integration was changed in the meantime" };
  }
  const { oauth2, integration } = target;
  const terms = toLinkedTerms(oauth2, integration.fields);
  const answer = await requestTokens(
    options,
    { workspaceId: input.workspaceId, terms, signal },
    {
      grant_type: "authorization_code",
      code: grant.code,
      redirect_uri: grant.redirectUri,
      code_verifier: grant.verifier,
    },
  );
  if (!answer.ok) return answer;
  const { tokens, response, askedMs } = answer;
  const named =
    oauth2.identityUrl === null
      ? response
      : await fetchIdentity(options, oauth2.identityUrl, { terms, tokens, signal });
  const account = oauth2.identity === null ? null : findAccount(oauth2.identity, named, tokens);
  return { ok: true, ...toLinkedAccount(options, tokens, { askedMs, terms, account, asked: oauth2.scopes }) };
}

async function refresh(
  options: OAuthEffectOptions,
  key: IntegrationConnectionKey,
  signal: RunSignal,
): Promise<LinkOutcome> {
  const reading = options.reading();
  const target = findConnectionTarget(reading, key);
  const linked = findIntegrationConnection(reading, key.workspaceId, key.integrationId, key.holder)?.linked ?? null;
  if (target === null || linked === null || !isSameServer(linked.terms, target.oauth2)) {
    return { ok: false, isFinal: true, reason: "the integration was changed" };
  }
  const before = openTokens(options.sealer, linked.sealed);
  if (before.refresh === null) return { ok: false, isFinal: true, reason: "the host issued no refresh token" };
  const terms = toLinkedTerms(target.oauth2, target.integration.fields);
  const parameters = { grant_type: "refresh_token", refresh_token: before.refresh };
  const answer = await requestTokens(options, { workspaceId: key.workspaceId, terms, signal }, parameters);
  if (!answer.ok) return answer;
  // If the host returns no new refresh token, the old refresh token stays valid (RFC 6749, 6).
  const tokens = { ...answer.tokens, refresh: answer.tokens.refresh ?? before.refresh };
  const { askedMs } = answer;
  return {
    ok: true,
    ...toLinkedAccount(options, tokens, { askedMs, terms, account: linked.account, asked: linked.scopes }),
  };
}

/**
 * Revokes the refresh token at the host, which also ends the access token. Without a refresh token, revokes the access
 * token. Does nothing if the workspace is closed or the host has no endpoint for revocation.
 */
async function revoke(options: OAuthEffectOptions, { workspaceId, sealed, terms }: RevokeInput, signal: RunSignal) {
  if (!isWorkspaceOpen(options.reading(), workspaceId)) return null;
  const revokeUrl = await resolveEndpoint(terms, "revokeUrl", options.servers);
  if (revokeUrl === null) return null;
  const { access, refresh: lasting } = openTokens(options.sealer, sealed);
  const url = parseAddress(revokeUrl, terms);
  const client = createClient(options, { workspaceId, terms, url });
  const hint = lasting === null ? "access_token" : "refresh_token";
  const parameters = { token: lasting ?? access, token_type_hint: hint };
  await revokeToken(options.outbound, { url, client, parameters, signal });
  return null;
}

interface TokenRequest {
  readonly workspaceId: string;
  readonly terms: LinkedTerms;
  readonly signal: RunSignal;
}

async function requestTokens(
  options: OAuthEffectOptions,
  { workspaceId, terms, signal }: TokenRequest,
  parameters: Readonly<Record<string, string>>,
) {
  const url = parseAddress((await resolveEndpoint(terms, "tokenUrl", options.servers)) ?? "", terms);
  const client = createClient(options, { workspaceId, terms, url });
  const askedMs = options.clock.now();
  const answer = await askForTokens(options.outbound, { url, client, parameters, signal });
  return answer.ok ? { ...answer, askedMs } : answer;
}

/**
 * Parses an address. Throws {@link RequestNotMade} if it is invalid or not on the integration's hosts. The deployment's
 * allow-list is checked when the request is sent.
 */
function parseAddress(text: string, { hosts }: LinkedTerms): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw new RequestNotMade("the host's address is unknown");
  if (!coversAddress(hosts, url)) throw new RequestNotMade(`the host ${url.host} is not among the integration's hosts`);
  return url;
}

function createClient(
  { reading, sealer }: OAuthEffectOptions,
  { workspaceId, terms, url }: { readonly workspaceId: string; readonly terms: LinkedTerms; readonly url: URL },
): OAuthClient {
  const { clientId, clientSecret: secret, clientAuth } = terms;
  if (secret === null) return { clientId, clientSecret: null, clientAuth };
  const found = findSecretFor(reading(), workspaceId, { secret, url });
  if ("reason" in found) throw new RequestNotMade(found.reason);
  return { clientId, clientSecret: sealer.open(found.sealed), clientAuth };
}

function toLinkedAccount(
  { sealer }: OAuthEffectOptions,
  { access, refresh: lasting, lastsSeconds, scopes }: Tokens,
  more: {
    readonly askedMs: number;
    readonly terms: LinkedTerms;
    readonly account: string | null;
    readonly asked: readonly string[];
  },
): LinkedAccount {
  return {
    sealed: sealer.seal(JSON.stringify({ access, refresh: lasting })),
    canRenew: lasting !== null,
    expiresAtMs: lastsSeconds === null ? null : more.askedMs + Math.floor(lastsSeconds * 1_000),
    scopes: (scopes ?? more.asked).slice(0, 100),
    terms: more.terms,
    account: more.account,
  };
}

/**
 * Fetches the host's description of the token's account; null if the request fails. Throws {@link RequestNotMade} if
 * the address is not on the integration's hosts.
 */
async function fetchIdentity(
  { outbound }: OAuthEffectOptions,
  identityUrl: string,
  { terms, tokens, signal }: { readonly terms: LinkedTerms; readonly tokens: Tokens; readonly signal: RunSignal },
): Promise<unknown> {
  const url = parseAddress(identityUrl, terms);
  const headers = {
    accept: "application/json",
    authorization: `Bearer ${tokens.access}`,
    "user-agent": "Service-Connections/1",
  };
  try {
    const answer = await outbound.get({ url, headers, timeoutMs: OAUTH_REQUEST_MS, signal });
    if (answer.status < 200 || answer.status >= 300 || answer.unread !== undefined) return null;
    return parseJson(answer.body) ?? answer.body;
  } catch {
    return null;
  }
}

/**
 * Returns the account's name as the definition reads it; null if the account has no name. The name contains no token.
 */
function findAccount(identity: string, response: unknown, tokens: Tokens): string | null {
  const outcome = evaluateText(identity, { response: toValue(withoutTokens(response, tokens), DYN) });
  const value = "value" in outcome ? outcome.value : null;
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") return null;
  const account = String(value)
    .replace(/\p{Cc}+/gu, " ")
    .trim();
  return account === "" ? null : account.slice(0, MAX_ACCOUNT);
}

const TOKEN_FIELDS: ReadonlySet<string> = new Set(["access_token", "refresh_token", "id_token"]);

/** Removes the token fields from a response, and replaces every text that contains a token with null. */
function withoutTokens(answer: unknown, tokens: Tokens): unknown {
  const { access, refresh: lasting } = tokens;
  if (typeof answer === "string") {
    return answer.includes(access) || (lasting !== null && answer.includes(lasting)) ? null : answer;
  }
  if (Array.isArray(answer)) return answer.map((each) => withoutTokens(each, tokens));
  if (typeof answer !== "object" || answer === null) return answer;
  const retained = Object.entries(answer).filter(([name]) => !TOKEN_FIELDS.has(name));
  return Object.fromEntries(retained.map(([name, value]) => [name, withoutTokens(value, tokens)]));
}
