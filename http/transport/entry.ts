import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { Admission } from "../limits/admission.js";
import type { ClientAddress } from "../limits/client-address.js";
import { partyOf } from "../limits/fair-turns.js";
import { shareOf } from "../limits/sender-shares.js";
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

/** Who holds a request's credential now; null without one, a refusal for one that is not valid. */
export type CallerNow = () => Caller | null | Refusal;

export interface EntryOptions {
  /** Reads the credential of a request, once. */
  readonly authenticate: (request: Credentials) => CallerNow;
  readonly clientAddress: ClientAddress;
  readonly admission: Admission;
  /** Whether the service was started to look at a store, and changes nothing. */
  readonly isReadOnly?: boolean;
}

/** Why a service that was started with `--read-only` does not serve a request. */
export const READ_ONLY: EdgeRefusal = {
  refused: "read-only",
  detail: "This service was started with --read-only: it shows what is stored, and changes and sends nothing.",
};

/** A request that may be served. */
export interface Entry extends Found {
  /** A refusal where the route may answer anyone. */
  readonly caller: RouteRequest["caller"] | Refusal;
  readonly callerNow: CallerNow;
  /** Whose room its body takes. */
  readonly source: string;
  /** Whose turns its work takes: the source's, or those of a share of it. */
  readonly party: string;
}

/** Authenticates and admits a request to a route. */
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
  const source = partyOf(person, () => options.clientAddress(incoming));
  const party = person === null ? shareOf(source, audience) : source;
  return { route, params, caller, callerNow, source, party };
}

/** Counts the request by its valid credential, or else by its address's share for its audience; a refusal beyond the limit. */
export function crowdedBy(
  { admission, clientAddress }: EntryOptions,
  incoming: TransportRequest,
  known: Caller | null | Refusal,
  audience: string | null = null,
): Refusal | null {
  if (known !== null && !isRefusal(known)) return admission.ofCaller(known);
  return admission.ofAddress(() => clientAddress(incoming), audience);
}

/** The caller that the route's handler gets, or a refusal. An invalid credential does not matter on a public route. */
export function admit(route: Route, caller: Caller | null | Refusal): RouteRequest["caller"] | Refusal {
  if (route.access === "public") return caller !== null && isRefusal(caller) ? null : caller;
  if (caller !== null && isRefusal(caller)) return caller;
  if (route.access === "person") {
    if (caller?.kind === "person") return caller;
    const title = caller === null ? {} : { title: "A signed-in person is needed" };
    return { refused: "unauthenticated", detail: "This needs a signed-in person.", ...title };
  }
  return caller ?? { refused: "unauthenticated", detail: "This needs a signed-in person or a token." };
}
