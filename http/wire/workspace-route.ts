import type { z } from "zod";
import {
  findAdministeredWorkspace,
  findVisibleWorkspace,
  type VisibleWorkspace,
} from "../../actors/access/members/workspace.queries.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Route } from "./route.js";
import { type SignedInAccess, type SubjectRoute, subjectRoute } from "./subject-route.js";

const finders = { sees: findVisibleWorkspace, administers: findAdministeredWorkspace };

/**
 * Declares a route for the workspace in `{slug}` of its path. `who` says who may call the route: everyone who may see
 * the workspace, or only its administrators. Other callers get 404.
 */
export function workspaceRoute<
  Access extends SignedInAccess,
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>(
  { reading }: Pick<Runtime, "reading">,
  who: "sees" | "administers",
  definition: SubjectRoute<VisibleWorkspace, Access, Body, Query>,
): Route {
  const find = finders[who];
  return subjectRoute({ find: ({ caller, params }) => find(reading, caller, params.slug ?? "") }, definition);
}
