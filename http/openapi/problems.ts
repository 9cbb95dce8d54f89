import { listIdCursors } from "../wire/paging.js";
import type { ProblemSlug } from "../wire/problem.js";
import { isServedReadOnly, type Route } from "../wire/route.js";

/** Problems that any request can have. */
const always: readonly ProblemSlug[] = ["bad-request", "unsupported-api-version", "internal", "damaged", "unavailable"];

/**
 * Returns all problems that a route can respond with: those that its declaration implies, and those that it lists. The
 * documentation shows them, and tests check every response against them.
 */
export function problemsOf(route: Route): readonly ProblemSlug[] {
  const writes = route.method !== "GET";
  const slugs = new Set<ProblemSlug>([...always, ...(route.problems ?? [])]);
  const add = (applies: boolean, ...more: ProblemSlug[]) => {
    if (applies) for (const slug of more) slugs.add(slug);
  };
  add(!isServedReadOnly(route), "read-only");
  add(route.isAlwaysAdmitted !== true, "too-many-requests");
  add(route.access !== "public", "unauthenticated");
  add(route.access !== "public" && writes, "forbidden");
  add(route.access !== "public" && route.path.includes("{"), "not-found");
  add(writes, "request-timeout", "too-large", "unsupported-media-type", "conflict");
  const hasFields = route.body !== undefined || route.takes !== undefined;
  add(hasFields || listIdCursors(route.query).length > 0, "invalid");
  const key = route.headers?.["idempotency-key"];
  add(key === "required", "idempotency-key-required", "already-exists", "in-use");
  add(key !== undefined, "idempotency-key-reused");
  add(
    route.headers?.["if-match"] !== undefined,
    ...(["malformed-if-match", "precondition-required", "moved-on", "in-use"] as const),
  );
  return [...slugs];
}
