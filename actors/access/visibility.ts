import type { Reading } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import type { Permission } from "../permission.js";
import type { Refusal } from "../refusal.js";
import { isWorkspaceOpen, listResources } from "../resources/resource.table.js";
import { findMember } from "../workspaces/member.table.js";
import { forbiddenTitle, listScopePermissions, rolePermissions } from "./permissions.js";

/** What the caller may do in the workspace; empty when they may not see it, or when it is closed. */
export function listPermissions(reading: Reading, caller: Caller, workspaceId: string): readonly Permission[] {
  const held = listHeldPermissions(reading, caller, workspaceId);
  return held.length > 0 && isOpen(reading, workspaceId) ? held : [];
}

/** Whether the workspace is open. Throws `damaged` when it has an address and no row: a closed one has neither. */
function isOpen(reading: Reading, workspaceId: string): boolean {
  if (isWorkspaceOpen(reading, workspaceId)) return true;
  return listResources(reading, workspaceId, "workspace", { limit: 1 }).length > 0;
}

/** The same, open or closed. */
function listHeldPermissions(reading: Reading, caller: Caller, workspaceId: string): readonly Permission[] {
  if (caller.kind === "token") {
    return caller.workspaceId === workspaceId ? listScopePermissions(caller.scopes) : [];
  }
  const member = findMember(reading, workspaceId, caller.userId);
  return member === undefined ? [] : rolePermissions[member.role];
}

/**
 * Null when the caller may; `not-found`, as for something that does not exist, when they may not see the workspace;
 * else `forbidden`, naming the permission, with the title for `about` (a resource kind or `workspace`).
 */
export function permit(
  reading: Reading,
  caller: Caller,
  workspaceId: string,
  permission: Permission,
  about: string,
): Refusal | null {
  const held = listPermissions(reading, caller, workspaceId);
  if (held.length === 0) return { refused: "not-found" };
  return held.includes(permission) ? null : forbid(permission, about);
}

/** The 403 for a missing permission. */
export function forbid(permission: Permission, about: string): Refusal {
  return {
    refused: "forbidden",
    title: forbiddenTitle(permission, about),
    detail: `This needs the permission ${permission}, which your role or token does not give.`,
    permission,
  };
}

/** Whether a person is on a team. */
export function isOnTeam(reading: Reading, userId: string, workspaceId: string, teamId: string): boolean {
  return findMember(reading, workspaceId, userId)?.teams.includes(teamId) ?? false;
}

/** Whether the caller may read the team's outcomes (configuration API, Visibility). */
export function seesOutcomes(reading: Reading, caller: Caller, workspaceId: string, teamId: string): boolean {
  const held = listPermissions(reading, caller, workspaceId);
  if (!held.includes("read")) return false;
  return (
    caller.kind === "token" || held.includes("administer") || isOnTeam(reading, caller.userId, workspaceId, teamId)
  );
}
