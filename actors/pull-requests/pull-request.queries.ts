import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/team.queries.js";
import { permit, seesOutcomes } from "../access/visibility.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { listAddresses } from "../resources/resource.table.js";
import { findWorkspaceOf } from "../resources/resource-location.table.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import { type PullRequestRole, type PullRequestRow, type PullRequestState, pullRequestStates } from "./pull-request.js";
import { pullRequests } from "./pull-request.table.js";

/** A pull request that a caller may read. */
export interface VisiblePullRequest {
  readonly workspaceId: string;
  readonly row: PullRequestRow;
}

/** The pull request; refused `not-found` unless the caller may read its team's outcomes. */
export function findPullRequest(reading: Reading, caller: Caller, id: string): VisiblePullRequest | Refusal {
  const workspaceId = findWorkspaceOf(reading, "pull-request", id);
  if (workspaceId === undefined || permit(reading, caller, workspaceId, "read", "pull-request") !== null) {
    return { refused: "not-found" };
  }
  const row = pullRequests.get(reading, workspaceId, id);
  if (row === undefined) expectNotListed(reading, caller, workspaceId, id);
  const sees = row !== undefined && seesOutcomes(reading, caller, workspaceId, row.teamId);
  return sees ? { workspaceId, row } : { refused: "not-found" };
}

const findTeamPullRequest = pullRequests.listed("team-pull-request");

/** Throws `damaged` when the list of a team, whose outcomes the caller reads, names the pull request without a row. */
function expectNotListed(reading: Reading, caller: Caller, workspaceId: string, id: string): void {
  for (const { id: teamId } of listAddresses(reading, workspaceId, "team", {})) {
    if (!seesOutcomes(reading, caller, workspaceId, teamId)) continue;
    for (const state of pullRequestStates) findTeamPullRequest(reading, workspaceId, teamId, state, id);
  }
}

/** The same for those who may also plan; `forbidden` for others who may read it. */
export function findPullRequestToAct(reading: Reading, caller: Caller, id: string): VisiblePullRequest | Refusal {
  const found = findPullRequest(reading, caller, id);
  if (isRefusal(found)) return found;
  return permit(reading, caller, found.workspaceId, "plan", "pull-request") ?? found;
}

/** The pull request as it is now. */
export function getPullRequestNow(reading: Reading, { workspaceId, row }: VisiblePullRequest): PullRequestRow {
  return pullRequests.get(reading, workspaceId, row.id) ?? row;
}

/** Which pull requests of a team. */
export interface WantedPullRequests {
  readonly role?: PullRequestRole | undefined;
  readonly state?: PullRequestState | undefined;
  /** Only those that this service knew of before this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A page of a team's pull requests, newest first: a function that reads a slice of it. */
export function listPullRequests(
  { workspaceId, teamId }: VisibleTeam,
  { role, state, before, limit }: WantedPullRequests,
): (reading: Reading, cursor: Cursor<PullRequestRow> | null) => Slice<PullRequestRow> {
  const place = before === undefined ? undefined : [before];
  return (reading, cursor) =>
    pullRequests.page(reading, workspaceId, { teamId, role, state }, { before: place, limit, cursor });
}
