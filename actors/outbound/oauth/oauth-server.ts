import { LRUCache } from "lru-cache";
import { z } from "zod";
import { parseJson, toReason, withoutEmptyMembers } from "../http/json-answer.js";
import type { Outbound } from "../http/request.js";

/** Metadata of an OAuth 2.0 authorization server (RFC 8414). */
export interface AuthorizationServer {
  /** The server's issuer identifier; null if unknown. */
  readonly issuer: string | null;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly revokeUrl: string | null;
  /** Whether every authorization response names its issuer (RFC 9207). */
  readonly namesItself: boolean;
}

/** A server's metadata is unavailable. The message says why, as a clause. */
export class ServerUnavailable extends Error {
  override readonly name = "ServerUnavailable";
}

/** Fetches and caches the metadata of authorization servers. */
export interface AuthorizationServers {
  /** Returns an issuer's metadata. Rejects with {@link ServerUnavailable}. */
  read(issuer: string): Promise<AuthorizationServer>;
}

/** Maximum size of an authorization server's answer, in bytes. */
export const MAX_OAUTH_ANSWER_BYTES = 256 * 1024;
/** Timeout of one request to an authorization server, in milliseconds. */
export const OAUTH_REQUEST_MS = 10_000;
/** How long metadata is cached, in milliseconds. */
const METADATA_LASTS_MS = 10 * 60 * 1_000;
/** Minimum time between a failed request and the next, in milliseconds. */
const TRY_AGAIN_MS = 10_000;
/** Maximum number of cached servers; the least recently used one is evicted. */
const MAX_SERVERS = 500;

interface Known {
  readonly askedMs: number;
  /** The answer, which may still be pending; later callers wait for the same answer. */
  readonly answer: Promise<AuthorizationServer | ServerUnavailable>;
  hasFailed: boolean;
}

export interface AuthorizationServersOptions {
  readonly outbound: Pick<Outbound, "get">;
  readonly now: () => number;
}

/** Fetches metadata through `outbound`, whose `maxBodyBytes` must be {@link MAX_OAUTH_ANSWER_BYTES}. */
export function createAuthorizationServers({ outbound, now }: AuthorizationServersOptions): AuthorizationServers {
  const servers = new LRUCache<string, Known>({ max: MAX_SERVERS });
  const ask = (issuer: string): Known => {
    const answer = fetchMetadata(outbound, issuer).catch((error: unknown) => {
      known.hasFailed = true;
      return error instanceof ServerUnavailable ? error : new ServerUnavailable("its metadata cannot be read");
    });
    const known: Known = { askedMs: now(), answer, hasFailed: false };
    servers.set(issuer, known);
    return known;
  };
  return {
    async read(issuer) {
      const known = servers.get(issuer);
      const lastsMs = known?.hasFailed === true ? TRY_AGAIN_MS : METADATA_LASTS_MS;
      const agedMs = now() - (known?.askedMs ?? 0);
      // A negative age means that the clock was ahead.
      const isFresh = known !== undefined && agedMs >= 0 && agedMs < lastsMs;
      const server = await (isFresh ? known : ask(issuer)).answer;
      if (server instanceof ServerUnavailable) throw server;
      return server;
    },
  };
}

const metadataSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url({ protocol: /^https?$/ }).max(2_000),
  token_endpoint: z.url({ protocol: /^https?$/ }).max(2_000),
  revocation_endpoint: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  code_challenge_methods_supported: z.array(z.string()).optional(),
});

/**
 * Returns the addresses of the metadata. RFC 8414 puts the well-known path before the issuer's path; OpenID Connect
 * Discovery puts it after the issuer's path.
 */
function listAddresses(issuer: string): readonly URL[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return [
    new URL(`${origin}/.well-known/oauth-authorization-server${path}`),
    new URL(`${origin}${path}/.well-known/openid-configuration`),
  ];
}

async function fetchMetadata(outbound: Pick<Outbound, "get">, issuer: string): Promise<AuthorizationServer> {
  let last = new ServerUnavailable("its metadata is not available");
  for (const url of listAddresses(issuer)) {
    const headers = { accept: "application/json", "user-agent": "Service-Connections/1" };
    const signal = new AbortController().signal;
    const request = { url, headers, timeoutMs: OAUTH_REQUEST_MS, signal };
    const answer = await outbound.get(request).catch((error: unknown) => {
      throw new ServerUnavailable(`its metadata cannot be fetched: ${toReason(error)}`);
    });
    if (answer.unread !== undefined)
      throw new ServerUnavailable(`its metadata cannot be read: ${answer.unread.reason}`);
    if (answer.status === 200) return readMetadata(answer.body, issuer);
    last = new ServerUnavailable(`its metadata request returned status ${answer.status}`);
  }
  throw last;
}

function readMetadata(body: string, issuer: string): AuthorizationServer {
  const parsed = metadataSchema.safeParse(withoutEmptyMembers(parseJson(body)));
  if (!parsed.success) throw new ServerUnavailable("its metadata does not have the required form");
  const { data } = parsed;
  if (data.issuer !== issuer) throw new ServerUnavailable("its metadata belongs to another issuer");
  if (data.code_challenge_methods_supported?.includes("S256") === false) {
    throw new ServerUnavailable("it does not support PKCE with S256");
  }
  return {
    issuer,
    authorizeUrl: data.authorization_endpoint,
    tokenUrl: data.token_endpoint,
    revokeUrl: data.revocation_endpoint ?? null,
    namesItself: data.authorization_response_iss_parameter_supported === true,
  };
}
