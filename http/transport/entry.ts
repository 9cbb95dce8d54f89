import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { Admission } from "../limits/admission.js";
import type { ClientAddress } from "../limits/client-address.js";
import { toClient } from "../limits/fair-turns.js";
import { toShare } from "../limits/sender-shares.js";
import { checkApiVersion } from "../wire/headers.js";
import type { EdgeRefusal } from "../wire/problem.js";
import { isServedReadOnly, type Route, type RouteRequest } from "../wire/route.js";
import type { Found } from "../wire/router.js";
import type { TransportRequest } from "./transport.js";

/** The parts of a request that can carry a credential. */
export interface Credentials {
  readonly method: string;
  header(name: string): string | undefined;
}

/**
 * Returns the caller who owns a request's credential now. Returns null if the request has no credential. Returns a
 * refusal if the credential is invalid or the request may not use it.
 */
export type CallerNow = () => Caller | null | Refusal;

export interface EntryOptions {
  /** Reads the credential of a request once. The returned function finds the current caller at each call. */
  readonly authenticate: (request: Credentials) => CallerNow;
  readonly clientAddress: ClientAddress;
  readonly admission: Admission;
  /** Whether to answer a request with this `Host` header. By default, the service answers all requests. */
  readonly admitsHost?: ((host: string | undefined) => boolean) | undefined;
  /** Whether the service runs with `--read-only` and changes nothing. */
  readonly isReadOnly?: boolean;
}

/** The refusal of a service with `--read-only` for requests that it does not serve. */
export const READ_ONLY: EdgeRefusal = {
  refused: "read-only",
  detail: "This service was started with --read-only: it serves reads, and changes and sends nothing.",
};

/** Returns a refusal if the service does not answer requests with this `Host` header; otherwise null. */
export function refuseHost(
  { admitsHost }: Pick<EntryOptions, "admitsHost">,
  incoming: Pick<Credentials, "header">,
): Refusal | null {
  if (admitsHost === undefined || admitsHost(incoming.header("host"))) return null;
  return {
    refused: "forbidden",
    title: "Unknown host",
    detail: "The service does not answer requests with this Host header.",
  };
}

/** A request that may be served. */
export interface Entry extends Found {
  /** The caller. A refusal is possible only on a route with `answersAnyone`. */
  readonly caller: RouteRequest["caller"] | Refusal;
  readonly callerNow: CallerNow;
  /** The client whose memory limit the request's body counts against. */
  readonly source: string;
  /**
   * The client whose turns the request takes: `source`, or the share of `source` for the route's audience (`toShare`).
   */
  readonly client: string;
}

/**
 * Authenticates a request to a route and applies the rate limits. Returns a refusal if the request may not be served.
 */
export function enter(options: EntryOptions, found: Found, incoming: TransportRequest): Entry | Refusal | EdgeRefusal {
  const { route, params } = found;
  const callerNow = options.authenticate(incoming);
  const known = callerNow();
  const audience = route.audience?.(params) ?? null;
  const crowded = route.isAlwaysAdmitted === true ? null : crowdedBy(options, incoming, known, audience);
  if (crowded !== null) return crowded;
  const version = checkApiVersion(incoming.header("service-api-version"));
  if (version !== null) return version;
  if (options.isReadOnly === true && !isServedReadOnly(route)) return READ_ONLY;
  const caller = admit(route, known);
  if (isRefusal(caller) && route.answersAnyone === undefined) return caller;
  const person = isRefusal(caller) ? null : caller;
  const source = toClient(person, () => options.clientAddress(incoming));
  const client = person === null ? toShare(source, audience) : source;
  return { route, params, caller, callerNow, source, client };
}

/**
 * Counts the request against a rate limit. With a valid credential, this is the credential's limit. Otherwise it is the
 * limit of the client address's share for `audience`. Returns a refusal if the limit is exceeded, otherwise null.
 */
export function crowdedBy(
  { admission, clientAddress }: EntryOptions,
  incoming: TransportRequest,
  known: Caller | null | Refusal,
  audience: string | null = null,
): Refusal | null {
  if (known !== null && !isRefusal(known)) return admission.ofCaller(known);
  return admission.ofAddress(() => clientAddress(incoming), audience);
}

/** Returns the caller to pass to the route's handler, or a refusal. A public route ignores an invalid credential. */
export function admit(route: Route, caller: Caller | null | Refusal): RouteRequest["caller"] | Refusal {
  if (route.access === "public") return caller !== null && isRefusal(caller) ? null : caller;
  if (caller !== null && isRefusal(caller)) return caller;
  if (route.access === "person") {
    if (caller?.kind === "person") return caller;
    const needed = "This endpoint requires a signed-in user; workspace tokens are not accepted.";
    if (caller === null) return { refused: "unauthenticated", detail: needed };
    return {
      refused: "unauthenticated",
      title: "A signed-in user is required",
      detail: `${needed} Your token is valid: sign in as a person to make this request.`,
    };
  }
  return caller ?? { refused: "unauthenticated", detail: "This endpoint requires a signed-in user or a token." };
}
