import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import type { Member } from "../../workspaces/member.js";
import { findMember } from "../../workspaces/member.table.js";
import { onlyLeadsSetRoles } from "../../workspaces/role-change.js";
import { permit } from "../visibility/visibility.js";
import { findVisibleTeam } from "./team.queries.js";
import { findVisibleWorkspace } from "./workspace.queries.js";

/** A workspace, and the requesting member. */
export interface OwnWorkspace {
  readonly workspaceId: string;
  readonly own: Member;
}

/** Finds the workspace for its members. Refuses all other callers with `not-found`, including tokens. */
export function findOwnWorkspace(reading: Reading, caller: Caller, slug: string): OwnWorkspace | Refusal {
  const found = findVisibleWorkspace(reading, caller, slug);
  if (isRefusal(found)) return found;
  const own = caller.kind === "token" ? undefined : findMember(reading, found.workspaceId, caller.userId);
  return own === undefined ? { refused: "not-found" } : { ...found, own };
}

/** The workspace in which a user changes members, and the id of this user. */
export interface Staffing {
  readonly workspaceId: string;
  /** The requesting user. The turn that changes the member checks this user's permission. */
  readonly by: string;
}

/**
 * Finds the workspace for a user who may set roles in it. Refuses with `not-found` if the caller cannot see the
 * workspace. Refuses tokens and users without that permission with `onlyLeadsSetRoles`.
 */
export function findWorkspaceOfRoles(reading: Reading, caller: Caller, slug: string): Staffing | Refusal {
  const found = findVisibleWorkspace(reading, caller, slug);
  if (isRefusal(found)) return found;
  const { workspaceId } = found;
  if (caller.kind === "token" || permit(reading, caller, workspaceId, "administer", "workspace") !== null) {
    return onlyLeadsSetRoles;
  }
  return { workspaceId, by: caller.userId };
}

/**
 * Finds a team's workspace for callers who may change the team's members. Always refuses tokens, whatever their scopes.
 */
export function findTeamToStaff(reading: Reading, caller: Caller, teamId: string): Staffing | Refusal {
  const team = findVisibleTeam(reading, caller, teamId);
  if (isRefusal(team)) return team;
  return permit(reading, caller, team.workspaceId, "administer", "team") ?? toStaffing(team, caller);
}

/**
 * Finds a team's workspace for a caller who may remove the given user from the team. All users may remove themselves.
 */
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
