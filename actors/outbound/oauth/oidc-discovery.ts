import { errors, type JWTVerifyGetKey } from "jose";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { Lane, type PlaceFor } from "../../../runtime/effects/lane.js";
import { parseJson, toReason } from "../http/json-answer.js";
import { issuerLane } from "../http/lanes.js";
import type { Outbound } from "../http/request.js";
import { type KeySet, keySetSchema, toKeySet } from "./key-set.js";

/** An issuer's keys are unavailable. The message says why. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** The keys that issuers publish through OpenID Connect Discovery 1.0. */
export interface IssuerKeys {
  /**
   * Returns a function that finds the issuer's key for a token's header, by `kid` and `alg`. `client` is the workspace
   * whose trust names the issuer. The function rejects in these cases:
   * - There are no keys: with {@link KeysUnavailable}.
   * - No key fits: with jose's `JWKSNoMatchingKey`.
   * - Several keys fit: with jose's `JWKSMultipleMatchingKeys`, which iterates over these keys.
   */
  toKey(issuer: string, client: string): JWTVerifyGetKey;
  /**
   * Fetches the keys again, if lookups are left. Resolves to whether there is a new key set to try. Call it for a token
   * that names no key and that no cached key verifies: the issuer may have replaced its keys.
   */
  renew(issuer: string, client: string): Promise<boolean>;
}

export interface IssuerKeysOptions {
  /** Must have `toIssuerAllowList` as allow-list and {@link MAX_DOCUMENT_BYTES} as `maxBodyBytes`. */
  readonly outbound: Pick<Outbound, "get">;
  readonly now: () => number;
  /** Timeout of each of the two requests in milliseconds; the default is 5 seconds. */
  readonly timeoutMs?: number;
}

/** Maximum size of a discovery document or key set, in bytes. */
export const MAX_DOCUMENT_BYTES = 256 * 1024;
const REQUEST_TIMEOUT_MS = 5_000;
/** How long keys are cached, in milliseconds. A withdrawn key is accepted for up to this time. */
const KEYS_LAST_MS = 10 * 60 * 1_000;
/**
 * Maximum burst of lookups per issuer, for tokens with unknown keys. One more lookup becomes available every
 * {@link LOOK_UP_MS}.
 */
const MAX_LOOK_UPS = 5;
const LOOK_UP_MS = 10_000;
/** Minimum time between a failed request to an issuer and the next, in milliseconds. */
const TRY_AGAIN_MS = 10_000;
/** Maximum number of cached issuers; the least recently used one is evicted. */
const MAX_ISSUERS = 500;

/**
 * The cached keys of one issuer.
 *
 * 1. There is one request at a time; callers that arrive during the request wait for its answer.
 * 2. `keys` come from the last successful request, at `fetchedMs`, and are used for `KEYS_LAST_MS` at most.
 * 3. A token with an unknown key makes the service fetch the keys at once, while lookups are left.
 */
interface Known {
  keys: KeySet | null;
  fetchedMs: number;
  askedMs: number;
  /** When the issuer has {@link MAX_LOOK_UPS} lookups available again, in milliseconds since 1970. */
  lookUpsFullMs: number;
  failure: KeysUnavailable | null;
  asking: Promise<void> | null;
}

function newIssuer(): Known {
  return { keys: null, fetchedMs: 0, askedMs: 0, lookUpsFullMs: 0, failure: null, asking: null };
}

/**
 * Returns whether the keys may be requested now:
 * - After a failed request: once {@link TRY_AGAIN_MS} have passed.
 * - If no keys are cached: always.
 * - If keys are cached: if a lookup is left. The request then uses up one lookup.
 *
 * A stored time that is too late is ignored: it means that the clock was ahead.
 */
function mayAsk(known: Known, nowMs: number): boolean {
  const agedMs = nowMs - known.askedMs;
  if (known.failure !== null) return agedMs < 0 || agedMs >= TRY_AGAIN_MS;
  if (known.keys === null) return true;
  const capacityMs = MAX_LOOK_UPS * LOOK_UP_MS;
  const fullMs = known.lookUpsFullMs - nowMs > capacityMs ? 0 : known.lookUpsFullMs;
  const nextMs = Math.max(fullMs, nowMs) + LOOK_UP_MS;
  if (nextMs - nowMs > capacityMs) return false;
  known.lookUpsFullMs = nextMs;
  return true;
}

/** Creates a cache that fetches the keys of issuers. */
export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { now, timeoutMs = REQUEST_TIMEOUT_MS } = options;
  const fetcher = { outbound: options.outbound, timeoutMs };
  const issuers = new LRUCache<string, Known>({ max: MAX_ISSUERS });
  const lane = new Lane(issuerLane);

  const toKnown = (issuer: string): Known => {
    const known = issuers.get(issuer) ?? newIssuer();
    issuers.set(issuer, known);
    return known;
  };
  const ask = async (issuer: string, known: Known, place: PlaceFor): Promise<void> => {
    known.askedMs = now();
    try {
      known.keys = await fetchKeys(fetcher, issuer);
      known.fetchedMs = known.askedMs;
      known.failure = null;
    } catch (error) {
      known.failure = error instanceof KeysUnavailable ? error : new KeysUnavailable("its keys cannot be read");
    } finally {
      lane.release(place);
      known.asking = null;
    }
  };
  const renewed = async (issuer: string, known: Known, client: string): Promise<void> => {
    if (known.asking === null && !mayAsk(known, now())) return;
    if (known.asking === null) {
      const place = { client, target: issuer };
      if (!lane.take(place)) throw new KeysUnavailable("too many requests for issuers' keys are in progress");
      known.asking = ask(issuer, known, place);
    }
    await known.asking;
  };

  return {
    toKey: (issuer, client) => async (header, token) => {
      const known = toKnown(issuer);
      const agedMs = now() - known.fetchedMs;
      if (known.keys !== null && (agedMs < 0 || agedMs >= KEYS_LAST_MS)) known.keys = null;
      const isNew = known.keys === null;
      if (isNew) await renewed(issuer, known, client);
      const { keys } = known;
      if (keys === null) throw known.failure ?? new KeysUnavailable("its keys are not available");
      try {
        return await keys(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || isNew) throw error;
        await renewed(issuer, known, client);
        if (known.keys === null || known.keys === keys) throw error;
        return known.keys(header, token);
      }
    },
    renew: async (issuer, client) => {
      const known = toKnown(issuer);
      const { keys } = known;
      await renewed(issuer, known, client);
      return known.keys !== null && known.keys !== keys;
    },
  };
}

const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.string().max(2_000) });

interface Fetcher {
  readonly outbound: Pick<Outbound, "get">;
  readonly timeoutMs: number;
}

async function fetchKeys(fetcher: Fetcher, issuer: string): Promise<KeySet> {
  const at = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const discovery = await fetchJson(fetcher, at, { schema: discoverySchema, what: "the discovery document" });
  if (discovery.issuer !== issuer) {
    throw new KeysUnavailable(`the discovery document belongs to ${discovery.issuer.slice(0, 255)}`);
  }
  if (!URL.canParse(discovery.jwks_uri))
    throw new KeysUnavailable("the discovery document's jwks_uri is not an address");
  const { keys } = await fetchJson(fetcher, discovery.jwks_uri, { schema: keySetSchema, what: "the key set" });
  return toKeySet(keys);
}

async function fetchJson<Schema extends z.ZodType>(
  { outbound, timeoutMs }: Fetcher,
  at: string,
  { schema, what }: { readonly schema: Schema; readonly what: string },
): Promise<z.output<Schema>> {
  const headers = { accept: "application/json", "user-agent": "Service-Trusts/1" };
  const signal = new AbortController().signal;
  const answer = await outbound.get({ url: new URL(at), headers, timeoutMs, signal }).catch((error: unknown) => {
    throw new KeysUnavailable(`${what} cannot be fetched: ${toReason(error)}`);
  });
  if (answer.status !== 200) throw new KeysUnavailable(`the request for ${what} returned status ${answer.status}`);
  if (answer.unread !== undefined) throw new KeysUnavailable(`${what} cannot be read: ${answer.unread.reason}`);
  const parsed = schema.safeParse(parseJson(answer.body));
  if (!parsed.success) throw new KeysUnavailable(`${what} does not have the required form`);
  return parsed.data;
}
