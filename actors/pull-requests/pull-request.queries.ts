import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/members/team.queries.js";
import { permit, seesOutcomes } from "../access/visibility/visibility.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { listAddresses } from "../resources/resource.table.js";
import { findOwningWorkspace } from "../resources/resource-location.table.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import { type PullRequestRole, type PullRequestRow, type PullRequestState, pullRequestStates } from "./pull-request.js";
import { pullRequests } from "./pull-request.table.js";

/** A pull request that a caller may read. */
export interface VisiblePullRequest {
  readonly workspaceId: string;
  readonly row: PullRequestRow;
}

/**
 * Finds a pull request. Refuses with `not-found` unless the caller may read the outcomes of the pull request's team.
 */
export function findPullRequest(reading: Reading, caller: Caller, id: string): VisiblePullRequest | Refusal {
  const workspaceId = findOwningWorkspace(reading, "pull-request", id);
  if (workspaceId === undefined || permit(reading, caller, workspaceId, "read", "pull-request") !== null) {
    return { refused: "not-found" };
  }
  const row = pullRequests.get(reading, workspaceId, id);
  if (row === undefined) expectNotListed(reading, caller, workspaceId, id);
  const sees = row !== undefined && seesOutcomes(reading, caller, workspaceId, row.teamId);
  return sees ? { workspaceId, row } : { refused: "not-found" };
}

const findTeamPullRequest = pullRequests.listed("team-pull-request");

/**
 * Throws `damaged` if a team's list has the pull request, but the pull request's row is lost. Checks only teams whose
 * outcomes the caller may read.
 */
function expectNotListed(reading: Reading, caller: Caller, workspaceId: string, id: string): void {
  for (const { id: teamId } of listAddresses(reading, workspaceId, "team", {})) {
    if (!seesOutcomes(reading, caller, workspaceId, teamId)) continue;
    for (const state of pullRequestStates) findTeamPullRequest(reading, workspaceId, teamId, state, id);
  }
}

/** Finds a pull request for callers who may plan. Refuses other readers with `forbidden`. */
export function findPullRequestToAct(reading: Reading, caller: Caller, id: string): VisiblePullRequest | Refusal {
  const found = findPullRequest(reading, caller, id);
  if (isRefusal(found)) return found;
  return permit(reading, caller, found.workspaceId, "plan", "pull-request") ?? found;
}

/** Reads the current row of the pull request. */
export function getPullRequestNow(reading: Reading, { workspaceId, row }: VisiblePullRequest): PullRequestRow {
  return pullRequests.get(reading, workspaceId, row.id) ?? row;
}

/** Filters of a team's pull requests. */
export interface WantedPullRequests {
  readonly role?: PullRequestRole | undefined;
  readonly state?: PullRequestState | undefined;
  /** Only pull requests before this id. Ids increase with time. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Returns a function that reads one slice of a page of a team's pull requests, newest first. */
export function listPullRequests(
  { workspaceId, teamId }: VisibleTeam,
  { role, state, before, limit }: WantedPullRequests,
): (reading: Reading, cursor: Cursor<PullRequestRow> | null) => Slice<PullRequestRow> {
  const place = before === undefined ? undefined : [before];
  return (reading, cursor) =>
    pullRequests.page(reading, workspaceId, { teamId, role, state }, { before: place, limit, cursor });
}
