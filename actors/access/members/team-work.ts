import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import { isOnTeam, permit } from "../visibility/visibility.js";

interface Team {
  readonly workspaceId: string;
  readonly teamId: string;
}

/**
 * Returns why a caller who can see the team may not open tasks in it or add to them. Returns null for users on the
 * team, and for tokens with the permission `work`.
 */
export function refuseOpening(reading: Reading, caller: Caller, team: Team): Refusal | null {
  return caller.kind === "token"
    ? permit(reading, caller, team.workspaceId, "work", "team")
    : refuseTeamWork(reading, caller, team);
}

/** Returns why a caller who can see the team may not work on its tasks; null for users on the team. */
export function refuseTeamWork(reading: Reading, caller: Caller, { workspaceId, teamId }: Team): Refusal | null {
  if (caller.kind === "person" && isOnTeam(reading, caller.userId, workspaceId, teamId)) return null;
  return { refused: "forbidden", title: "Not on the team", detail: "Only people on the team work on its tasks." };
}
