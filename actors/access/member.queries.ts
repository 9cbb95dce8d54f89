import type { Reading } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findMember, type Member } from "../workspaces/member.table.js";
import { onlyLeadsSetRoles } from "../workspaces/role-change.js";
import { findVisibleTeam } from "./team.queries.js";
import { permit } from "./visibility.js";
import { findVisibleWorkspace } from "./workspace.queries.js";

/** A workspace, and the member who asks. */
export interface OwnWorkspace {
  readonly workspaceId: string;
  readonly own: Member;
}

/** The workspace, for its people; `not-found` for tokens. */
export function findOwnWorkspace(reading: Reading, caller: Caller, slug: string): OwnWorkspace | Refusal {
  const found = findVisibleWorkspace(reading, caller, slug);
  if (isRefusal(found)) return found;
  const own = caller.kind === "token" ? undefined : findMember(reading, found.workspaceId, caller.userId);
  return own === undefined ? { refused: "not-found" } : { ...found, own };
}

/** Where the caller wants to change people, and who the caller is. */
export interface Staffing {
  readonly workspaceId: string;
  /** The person who asks; the turn checks what they may do to whom. */
  readonly by: string;
}

/** The workspace, for those who may set roles in it; a caller who may only see it is refused with the reason. */
export function findWorkspaceOfRoles(reading: Reading, caller: Caller, slug: string): Staffing | Refusal {
  const found = findVisibleWorkspace(reading, caller, slug);
  if (isRefusal(found)) return found;
  const { workspaceId } = found;
  if (caller.kind === "token" || permit(reading, caller, workspaceId, "administer", "workspace") !== null) {
    return onlyLeadsSetRoles;
  }
  return { workspaceId, by: caller.userId };
}

/** The workspace of a team, for those who decide who is on it: never a token, whatever its scopes. */
export function findTeamToStaff(reading: Reading, caller: Caller, teamId: string): Staffing | Refusal {
  const team = findVisibleTeam(reading, caller, teamId);
  if (isRefusal(team)) return team;
  return permit(reading, caller, team.workspaceId, "administer", "team") ?? toStaffing(team, caller);
}

/** The same for removing a person from the team; anyone may leave it. */
export function findTeamToLeave(
  reading: Reading,
  caller: Caller,
  { teamId, userId }: { readonly teamId: string; readonly userId: string },
): Staffing | Refusal {
  const isOwnPlace = caller.kind === "person" && caller.userId === userId;
  if (!isOwnPlace) return findTeamToStaff(reading, caller, teamId);
  const team = findVisibleTeam(reading, caller, teamId);
  return isRefusal(team) ? team : toStaffing(team, caller);
}

function toStaffing({ workspaceId }: { readonly workspaceId: string }, caller: Caller): Staffing {
  return { workspaceId, by: caller.kind === "person" ? caller.userId : "" };
}
