import type { Reading } from "../../storage/store.js";
import { findTeamOfOutcomes } from "../access/members/team.queries.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import type { ConfigPullRequestRow } from "./config-pull-request.js";
import { configPullRequests } from "./config-pull-request.table.js";

/**
 * Finds a config pull request. Refuses with `not-found` if the pull request does not belong to the team, or if the
 * caller may not read the team's outcomes.
 */
export function findConfigPullRequest(
  reading: Reading,
  caller: Caller,
  { teamId, pullRequestId }: { readonly teamId: string; readonly pullRequestId: string },
): ConfigPullRequestRow | Refusal {
  const team = findTeamOfOutcomes(reading, caller, teamId);
  if (isRefusal(team)) return team;
  const row = configPullRequests.get(reading, team.workspaceId, pullRequestId);
  if (row?.teamId === teamId) return row;
  return { refused: "not-found", detail: `Config pull request ${pullRequestId} not found.` };
}
