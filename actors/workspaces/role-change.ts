import type { Role } from "../caller.js";
import type { Refusal } from "../refusal.js";

/** The roles from the highest rank to the lowest (configuration API, Roles). */
const roles: readonly Role[] = ["owner", "admin", "member"];

const ranks: Readonly<Record<Role, number>> = { owner: 2, admin: 1, member: 0 };

/** A member with the fields that the role rules need. */
export interface Ranked {
  readonly userId: string;
  readonly role: Role;
}

/** The caller and the target of a change. */
export interface RoleChange {
  readonly caller: Ranked;
  readonly target: Ranked;
  /** Whether the target is the only owner of the workspace. */
  readonly isLastOwner: boolean;
}

/** The 403 for a user who is not a member of the workspace, or is no longer a member. */
export const notAMember: Refusal = {
  refused: "forbidden",
  title: "Not a member",
  detail: "This person is not a member of this workspace.",
};

/** The 403 for callers who may not set roles, including tokens. */
export const onlyLeadsSetRoles: Refusal = forbidden("Only an owner or an admin can set roles.", "administer");

/** The 409 for a change that would leave the workspace without an owner. */
const needsAnOwner: Refusal = {
  refused: "conflict",
  detail: "The workspace needs at least one owner. Please make someone else an owner first.",
};

/** Returns why the target may not get the role, or null (configuration API, Changing roles). */
export function refuseRole({ caller, target, isLastOwner }: RoleChange, role: Role): Refusal | null {
  if (caller.role === "member") return onlyLeadsSetRoles;
  if (target.role === role) return null;
  if (caller.role === "admin") {
    if (target.userId === caller.userId) return forbidden("You cannot change your own role.");
    if (ranks[target.role] >= ranks.admin) return forbidden("You can only set roles for people below you.");
    if (ranks[role] > ranks.admin) return forbidden("You cannot give a role above your own.");
  }
  return isLastOwner ? needsAnOwner : null;
}

/**
 * Returns why the caller may not remove the target from the workspace, or null. All members except the last owner may
 * remove themselves.
 */
export function refuseRemoval({ caller, target, isLastOwner }: RoleChange): Refusal | null {
  if (target.userId !== caller.userId) {
    if (caller.role === "member") return forbidden("Only an owner or an admin can remove people.", "administer");
    if (caller.role === "admin" && ranks[target.role] >= ranks.admin) {
      return forbidden("You can only remove people below you.");
    }
  }
  return isLastOwner ? needsAnOwner : null;
}

/**
 * Returns why the caller may not change a team's members, or null. `caller` is undefined if the requesting user has
 * left the workspace.
 */
export function refuseTeamChange(caller: Ranked | undefined): Refusal | null {
  if (caller === undefined) return { refused: "not-found" };
  if (caller.role !== "member") return null;
  const detail = "Only an owner or an admin can change who is on a team.";
  return { refused: "forbidden", title: "Not allowed to administer the team", detail, permission: "administer" };
}

/** Returns the roles that the caller may give the target, highest first, without the target's current role. */
export function assignableRoles(change: RoleChange): Role[] {
  return roles.filter((role) => role !== change.target.role && refuseRole(change, role) === null);
}

function forbidden(detail: string, permission?: "administer"): Refusal {
  return permission === undefined
    ? { refused: "forbidden", title: "Not allowed to change this person", detail }
    : { refused: "forbidden", title: "Not allowed to administer the workspace", detail, permission };
}
