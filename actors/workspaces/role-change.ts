import type { Role } from "../caller.js";
import type { Refusal } from "../refusal.js";

/** The roles from the highest rank to the lowest (configuration API, Roles). */
const roles: readonly Role[] = ["owner", "admin", "member"];

const ranks: Readonly<Record<Role, number>> = { owner: 2, admin: 1, member: 0 };

/** A person of the workspace with what the rules of roles need. */
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

/** The 403 for a person who is not, or no longer, in the workspace. */
export const notAMember: Refusal = {
  refused: "forbidden",
  title: "Not a member",
  detail: "This person is not a member of this workspace.",
};

/** The 403 for callers who may not set roles, tokens included. */
export const onlyLeadsSetRoles: Refusal = forbidden("Only an owner or an admin can set roles.", "administer");

/** The 409 for a change that would leave the workspace without an owner. */
const needsAnOwner: Refusal = {
  refused: "conflict",
  detail: "The workspace needs at least one owner. Please make someone else an owner first.",
};

/** Why the target may not be given the role, or null when they may (configuration API, Changing roles). */
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

/** Why the target may not be removed from the workspace, or null. Everyone but the last owner may leave. */
export function refuseRemoval({ caller, target, isLastOwner }: RoleChange): Refusal | null {
  if (target.userId !== caller.userId) {
    if (caller.role === "member") return forbidden("Only an owner or an admin can remove people.", "administer");
    if (caller.role === "admin" && ranks[target.role] >= ranks.admin) {
      return forbidden("You can only remove people below you.");
    }
  }
  return isLastOwner ? needsAnOwner : null;
}

/** Why the caller may not change a team's members, or null. An undefined caller is no longer in the workspace. */
export function refuseTeamChange(caller: Ranked | undefined): Refusal | null {
  if (caller === undefined) return { refused: "not-found" };
  if (caller.role !== "member") return null;
  const detail = "Only an owner or an admin can say who is on a team.";
  return { refused: "forbidden", title: "Not allowed to administer the team", detail, permission: "administer" };
}

/** The roles that the caller may give the target, besides the target's own, the highest first. */
export function assignableRoles(change: RoleChange): Role[] {
  return roles.filter((role) => role !== change.target.role && refuseRole(change, role) === null);
}

function forbidden(detail: string, permission?: "administer"): Refusal {
  return permission === undefined
    ? { refused: "forbidden", title: "Not allowed to change this person", detail }
    : { refused: "forbidden", title: "Not allowed to administer the workspace", detail, permission };
}
