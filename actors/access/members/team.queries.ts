import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import { findKnownResource } from "../../resources/resource.table.js";
import { findOwningWorkspace } from "../../resources/resource-location.table.js";
import { permit, seesOutcomes } from "../visibility/visibility.js";

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
