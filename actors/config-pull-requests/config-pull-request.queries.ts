import type { Reading } from "../../storage/store.js";
import { findTeamOfOutcomes } from "../access/team.queries.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import type { ConfigPullRequestRow } from "./config-pull-request.js";
import { configPullRequests } from "./config-pull-request.table.js";

/** The config pull request; refused `not-found` unless the caller reads the team's outcomes and it is the team's. */
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
