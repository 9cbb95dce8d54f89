import type { z } from "zod";
import type { Caller } from "../actors/caller.js";
import { isRefusal, type Refusal } from "../actors/refusal.js";
import type { ProblemSlug } from "./problem.js";
import { granted } from "./refused.js";
import { type Outcome, type Route, type RouteAccess, type RouteRequest, route, type TypedRoute } from "./route.js";

/** Access of routes that have a caller. */
export type SignedInAccess = Exclude<RouteAccess, "public">;

/** What a subject is found by. */
interface SubjectRequest extends Pick<RouteRequest, "params"> {
  readonly caller: Caller;
}

/** What a route is about, found by its path as far as the caller may see it and do this there. */
export interface Subject<Found> {
  readonly find: (request: SubjectRequest) => Found | Refusal;
  /** Problems it is refused with that do not follow from the route's path and method. */
  readonly problems?: readonly ProblemSlug[];
}

/** A route whose handler is called with what it is about. */
export interface SubjectRoute<Found, Access extends SignedInAccess, Body extends z.ZodType, Query extends z.ZodType>
  extends Omit<TypedRoute<Access, Body, Query>, "admits" | "handle"> {
  /** Whether the subject's refusal is told before what is wrong with the body; else after that and the query. */
  readonly isToldFirst?: boolean;
  handle(request: RouteRequest<Access, z.output<Body>, z.output<Query>>, subject: Found): Promise<Outcome> | Outcome;
}

/** Declares a route about a subject. It is refused where there is none; else `handle` has what was found. */
export function subjectRoute<
  Found,
  Access extends SignedInAccess,
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>(subject: Subject<Found>, definition: SubjectRoute<Found, Access, Body, Query>): Route {
  const { isToldFirst = false, handle, problems = [], ...declared } = definition;
  const refusal = (request: SubjectRequest): Refusal | null => {
    const found = subject.find(request);
    return isRefusal(found) ? found : null;
  };
  return route<Access, Body, Query>({
    ...declared,
    problems: ["not-found", ...(subject.problems ?? []), ...problems],
    ...(isToldFirst ? { admits: refusal } : {}),
    handle: (request) => handle(request, granted(subject.find(request))),
  });
}
