import type { z } from "zod";
import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { ProblemSlug } from "./problem.js";
import { granted } from "./refused.js";
import { type Outcome, type Route, type RouteAccess, type RouteRequest, route, type TypedRoute } from "./route.js";

/** The access of routes that always have a caller. */
export type SignedInAccess = Exclude<RouteAccess, "public">;

/** The parts of a request that identify the subject. */
interface SubjectRequest extends Pick<RouteRequest, "params"> {
  readonly caller: Caller;
}

/**
 * The subject of a route. `find` finds the subject by the path. It refuses if the caller may not see the subject or may
 * not make this request.
 */
export interface Subject<Found> {
  readonly find: (request: SubjectRequest) => Found | Refusal;
  /** Problems of `find` besides those that the path and the method imply. */
  readonly problems?: readonly ProblemSlug[];
}

/** A route whose handler receives its subject. */
export interface SubjectRoute<Found, Access extends SignedInAccess, Body extends z.ZodType, Query extends z.ZodType>
  extends Omit<TypedRoute<Access, Body, Query>, "admits" | "handle"> {
  /** Whether to check the subject before the body. By default, the service checks it after the body and the query. */
  readonly isCheckedFirst?: boolean;
  handle(request: RouteRequest<Access, z.output<Body>, z.output<Query>>, subject: Found): Promise<Outcome> | Outcome;
}

/** Declares a route with a subject. Responds with the refusal of `find`, or calls `handle` with the found subject. */
export function subjectRoute<
  Found,
  Access extends SignedInAccess,
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>(subject: Subject<Found>, definition: SubjectRoute<Found, Access, Body, Query>): Route {
  const { isCheckedFirst = false, handle, problems = [], ...declared } = definition;
  const refusal = (request: SubjectRequest): Refusal | null => {
    const found = subject.find(request);
    return isRefusal(found) ? found : null;
  };
  return route<Access, Body, Query>({
    ...declared,
    problems: ["not-found", ...(subject.problems ?? []), ...problems],
    ...(isCheckedFirst ? { admits: refusal } : {}),
    handle: (request) => handle(request, granted(subject.find(request))),
  });
}
