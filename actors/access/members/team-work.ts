import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import { isOnTeam, permit } from "../visibility/visibility.js";

interface Team {
  readonly workspaceId: string;
  readonly teamId: string;
}

/**
 * Returns why the caller may not open tasks in the team or add to them; null if the caller may. Users on the team may,
 * and tokens with the permission `work`. Expects a caller who can see the team.
 */
export function refuseOpening(reading: Reading, caller: Caller, team: Team): Refusal | null {
  return caller.kind === "token"
    ? permit(reading, caller, team.workspaceId, "work", "team")
    : refuseTeamWork(reading, caller, team);
}

/**
 * Returns why the caller may not work on the team's tasks; null for users on the team. Expects a caller who can see the
 * team.
 */
export function refuseTeamWork(reading: Reading, caller: Caller, { workspaceId, teamId }: Team): Refusal | null {
  if (caller.kind === "person" && isOnTeam(reading, caller.userId, workspaceId, teamId)) return null;
  return { refused: "forbidden", title: "Not on the team", detail: "Only people on the team work on its tasks." };
}
