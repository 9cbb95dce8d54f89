import type { Caller } from "../../actors/caller.js";
import { canonicalJson } from "../../actors/resources/canonical-json.js";
import type { Idempotency } from "../../actors/resources/resource.messages.js";
import type { Sealer } from "../../actors/sealer.js";
import { optionalIdempotencyKey } from "./headers.js";
import { granted } from "./refused.js";
import type { RouteRequest } from "./route.js";

/** The header of an answer to a repeat, for the documentation. */
export const replayedHeader = { "idempotent-replayed": "`true` when it was taken before, under this key." };

/** The headers of an answer. */
export function replayHeaders(replayed: boolean): Record<string, string> {
  return replayed ? { "idempotent-replayed": "true" } : {};
}

/**
 * How a repeat of a caller's request is recognised; undefined when it has no key. `what` names the route and its
 * subject. Throws a refusal for a malformed key.
 */
export function idempotencyOf(
  sealer: Sealer,
  request: Pick<RouteRequest, "body" | "header"> & { readonly caller: Caller },
  what: string,
): Idempotency | undefined {
  const { caller } = request;
  return idempotencyWithin(sealer, request, `${caller.kind === "person" ? caller.userId : caller.tokenId} ${what}`);
}

/** The same for whoever is no caller. `scope` separates the keys from all others. */
export function idempotencyWithin(
  sealer: Sealer,
  { body, header }: Pick<RouteRequest, "body" | "header">,
  scope: string,
): Idempotency | undefined {
  const key = granted(optionalIdempotencyKey(header("idempotency-key")));
  return key === null ? undefined : { scope, key, digest: sealer.digest(canonicalJson(body ?? null)) };
}
