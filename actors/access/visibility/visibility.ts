import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { Permission } from "../../permission.js";
import type { Refusal } from "../../refusal.js";
import { isWorkspaceOpen, listResources } from "../../resources/resource.table.js";
import { findMember } from "../../workspaces/member.table.js";
import { forbiddenTitle, listScopePermissions, rolePermissions } from "./permissions.js";

/**
 * Lists the caller's permissions in the workspace. The list is empty if the caller cannot see the workspace, or if the
 * workspace is closed.
 */
export function listPermissions(reading: Reading, caller: Caller, workspaceId: string): readonly Permission[] {
  const granted = listGrantedPermissions(reading, caller, workspaceId);
  return granted.length > 0 && isOpen(reading, workspaceId) ? granted : [];
}

/**
 * Returns whether the workspace is open. A closed workspace has neither an address nor a row. Throws `damaged` if it
 * has an address but no row.
 */
function isOpen(reading: Reading, workspaceId: string): boolean {
  if (isWorkspaceOpen(reading, workspaceId)) return true;
  return listResources(reading, workspaceId, "workspace", { limit: 1 }).length > 0;
}

/** Lists the caller's permissions in the workspace, without checking whether the workspace is open. */
function listGrantedPermissions(reading: Reading, caller: Caller, workspaceId: string): readonly Permission[] {
  if (caller.kind === "token") {
    return caller.workspaceId === workspaceId ? listScopePermissions(caller.scopes) : [];
  }
  const member = findMember(reading, workspaceId, caller.userId);
  return member === undefined ? [] : rolePermissions[member.role];
}

/**
 * Checks the caller's permission in the workspace, and returns null if the caller has it. Refuses with `not-found` if
 * the caller cannot see the workspace, otherwise with `forbidden`. The title of the 403 names the permission and
 * `about`, which is a resource kind or `workspace`.
 */
export function permit(
  reading: Reading,
  caller: Caller,
  workspaceId: string,
  permission: Permission,
  about: string,
): Refusal | null {
  const granted = listPermissions(reading, caller, workspaceId);
  if (granted.length === 0) return { refused: "not-found" };
  return granted.includes(permission) ? null : forbid(permission, about);
}

/** Returns the 403 for a missing permission. */
export function forbid(permission: Permission, about: string): Refusal {
  return {
    refused: "forbidden",
    title: forbiddenTitle(permission, about),
    detail: `This needs the permission ${permission}, which your role or token does not give.`,
    permission,
  };
}

/** Returns whether a user is on a team. */
export function isOnTeam(reading: Reading, userId: string, workspaceId: string, teamId: string): boolean {
  return findMember(reading, workspaceId, userId)?.teams.includes(teamId) ?? false;
}

/** Returns whether the caller can read the team's outcomes (configuration API, Visibility). */
export function seesOutcomes(reading: Reading, caller: Caller, workspaceId: string, teamId: string): boolean {
  const granted = listPermissions(reading, caller, workspaceId);
  if (!granted.includes("read")) return false;
  return (
    caller.kind === "token" || granted.includes("administer") || isOnTeam(reading, caller.userId, workspaceId, teamId)
  );
}
