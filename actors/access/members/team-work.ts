import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import { isOnTeam } from "../visibility/visibility.js";

/** Returns why a caller who can see the team may not work on its tasks, or null. Only users on the team may. */
export function refuseTeamWork(
  reading: Reading,
  caller: Caller,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
): Refusal | null {
  if (caller.kind === "person" && isOnTeam(reading, caller.userId, workspaceId, teamId)) return null;
  return { refused: "forbidden", title: "Not on the team", detail: "Only people on the team work on its tasks." };
}
