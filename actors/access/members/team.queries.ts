import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { InSteps } from "../../in-steps.js";
import type { Refusal } from "../../refusal.js";
import { addressPages, findKnownResource } from "../../resources/resource.table.js";
import { findOwningWorkspace } from "../../resources/resource-location.table.js";
import { findMember } from "../../workspaces/member.table.js";
import { listPermissions, permit, seesOutcomes } from "../visibility/visibility.js";

/** A team that a caller can see. */
export interface VisibleTeam {
  readonly workspaceId: string;
  readonly teamId: string;
  /** The team's key. The addresses of the team's resources begin with it. */
  readonly teamKey: string;
}

/** Finds the team; refuses with `not-found` if the caller cannot see its workspace. */
export function findVisibleTeam(reading: Reading, caller: Caller, teamId: string): VisibleTeam | Refusal {
  const workspaceId = findOwningWorkspace(reading, "team", teamId);
  if (workspaceId === undefined) return { refused: "not-found" };
  return permit(reading, caller, workspaceId, "read", "team") ?? findTeam(reading, workspaceId, teamId);
}

/** Finds the team; refuses with `not-found` if the caller cannot read its outcomes. */
export function findTeamOfOutcomes(reading: Reading, caller: Caller, teamId: string): VisibleTeam | Refusal {
  const workspaceId = findOwningWorkspace(reading, "team", teamId);
  return workspaceId !== undefined && seesOutcomes(reading, caller, workspaceId, teamId)
    ? findTeam(reading, workspaceId, teamId)
    : { refused: "not-found" };
}

function findTeam(reading: Reading, workspaceId: string, teamId: string): VisibleTeam | Refusal {
  const team = findKnownResource(reading, workspaceId, "team", teamId);
  return team === undefined ? { refused: "not-found" } : { workspaceId, teamId, teamKey: team.address };
}

/** Number of teams to list in one step. */
const TEAMS_AT_ONCE = 100;

/**
 * Lists, in steps, the ids of the teams whose outcomes the caller can read. Lists none if the caller cannot see the
 * workspace.
 */
export function* listTeamsOfOutcomes(
  reading: Reading,
  caller: Caller,
  workspaceId: string,
): InSteps<readonly string[]> {
  const granted = listPermissions(reading, caller, workspaceId);
  if (!granted.includes("read")) return [];
  const seesAll = caller.kind === "token" || granted.includes("administer");
  if (!seesAll) return findMember(reading, workspaceId, caller.userId)?.teams ?? [];
  const teamIds: string[] = [];
  for (const page of addressPages(reading, workspaceId, "team", { limit: TEAMS_AT_ONCE })) {
    teamIds.push(...page.map(({ id }) => id));
    if (page.length === TEAMS_AT_ONCE) yield;
  }
  return teamIds;
}
