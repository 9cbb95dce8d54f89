import type { Caller } from "../../actors/caller.js";
import { canonicalJson } from "../../actors/resources/canonical-json.js";
import type { Idempotency } from "../../actors/resources/resource.messages.js";
import type { Sealer } from "../../actors/sealer.js";
import { optionalIdempotencyKey } from "./headers.js";
import { granted } from "./refused.js";
import type { RouteRequest } from "./route.js";

/** Documents the header that marks a response to a repeated request. */
export const replayedHeader = { "idempotent-replayed": "`true` if an earlier request with this key had taken effect." };

/** Returns the header that marks a response to a repeated request; none if the request is new. */
export function replayHeaders(replayed: boolean): Record<string, string> {
  return replayed ? { "idempotent-replayed": "true" } : {};
}

/**
 * Returns the data that identifies a repeat of a caller's request; undefined if the request has no key. `what` names
 * the route and its subject. Throws a refusal for a malformed key.
 */
export function findIdempotency(
  sealer: Sealer,
  request: Pick<RouteRequest, "body" | "header"> & { readonly caller: Caller },
  what: string,
): Idempotency | undefined {
  const { caller } = request;
  return idempotencyWithin(sealer, request, `${caller.kind === "person" ? caller.userId : caller.tokenId} ${what}`);
}

/**
 * Like {@link findIdempotency}, for a request without a caller. `scope` separates the request's key from the keys in
 * other scopes. Returns undefined if the request has no key.
 */
export function idempotencyWithin(
  sealer: Sealer,
  { body, header }: Pick<RouteRequest, "body" | "header">,
  scope: string,
): Idempotency | undefined {
  const key = granted(optionalIdempotencyKey(header("idempotency-key")));
  return key === null ? undefined : { scope, key, digest: sealer.digest(canonicalJson(body ?? null)) };
}
