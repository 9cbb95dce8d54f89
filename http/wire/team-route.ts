import type { z } from "zod";
import { findTeamOfOutcomes, findVisibleTeam, type VisibleTeam } from "../../actors/access/members/team.queries.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Route } from "./route.js";
import { type SignedInAccess, type SubjectRoute, subjectRoute } from "./subject-route.js";

const finders = { team: findVisibleTeam, outcomes: findTeamOfOutcomes };

/**
 * Declares a route for the team in `{teamId}` of its path. With `team`, everyone who sees the team may call the route.
 * With `outcomes`, only people who may read the team's outcomes may call it. Other callers get 404.
 */
export function teamRoute<
  Access extends SignedInAccess,
  Body extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
>(
  { reading }: Pick<Runtime, "reading">,
  sees: "team" | "outcomes",
  definition: SubjectRoute<VisibleTeam, Access, Body, Query>,
): Route {
  const find = finders[sees];
  return subjectRoute({ find: ({ caller, params }) => find(reading, caller, params.teamId ?? "") }, definition);
}
