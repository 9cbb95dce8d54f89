import type { Reading } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import { findResource } from "../resources/resource.table.js";
import { locate } from "../resources/resource-location.table.js";
import { permit, seesOutcomes } from "./visibility.js";

/** A team that a caller may see. */
export interface VisibleTeam {
  readonly workspaceId: string;
  readonly teamId: string;
  /** Prefix of the addresses of everything that the team holds. */
  readonly teamKey: string;
}

/** The team; refused `not-found` unless the caller may see its workspace. */
export function findVisibleTeam(reading: Reading, caller: Caller, teamId: string): VisibleTeam | Refusal {
  const team = findTeam(reading, teamId);
  if (team === undefined) return { refused: "not-found" };
  return permit(reading, caller, team.workspaceId, "read", "team") ?? team;
}

/** The team; refused `not-found` unless the caller may read its outcomes. */
export function findTeamOfOutcomes(reading: Reading, caller: Caller, teamId: string): VisibleTeam | Refusal {
  const team = findTeam(reading, teamId);
  return team !== undefined && seesOutcomes(reading, caller, team.workspaceId, teamId)
    ? team
    : { refused: "not-found" };
}

function findTeam(reading: Reading, teamId: string): VisibleTeam | undefined {
  const location = locate(reading, teamId);
  if (location?.kind !== "team") return undefined;
  const { workspaceId } = location;
  const team = findResource(reading, workspaceId, "team", teamId);
  return team === undefined ? undefined : { workspaceId, teamId, teamKey: team.address };
}
