import type { Role } from "../caller.js";
import type { Refusal } from "../refusal.js";

/** The roles from the highest rank to the lowest (configuration API, Roles). */
const roles: readonly Role[] = ["owner", "admin", "member"];

const ranks: Readonly<Record<Role, number>> = { owner: 2, admin: 1, member: 0 };

/** Someone of the workspace, as far as roles depend on them. */
export interface Ranked {
  readonly userId: string;
  readonly role: Role;
}

/** Who would change whom. */
export interface RoleChange {
  readonly caller: Ranked;
  readonly target: Ranked;
  /** Whether nobody but the target owns the workspace. */
  readonly isLastOwner: boolean;
}

/** The 403 for a person who was never, or is no more, in the workspace. */
export const notAMember: Refusal = {
  refused: "forbidden",
  title: "Not a member",
  detail: "This person is not a member of this workspace.",
};

/** The 403 for callers who may set nobody's role, tokens included. */
export const onlyLeadsSetRoles: Refusal = forbidden("Only an owner or an admin can set roles.", "administer");

/** The 409 that keeps an owner in every workspace. */
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

/** Why the target may not be taken from the workspace, or null. Everyone may leave but the last owner. */
export function refuseRemoval({ caller, target, isLastOwner }: RoleChange): Refusal | null {
  if (target.userId !== caller.userId) {
    if (caller.role === "member") return forbidden("Only an owner or an admin can remove people.", "administer");
    if (caller.role === "admin" && ranks[target.role] >= ranks.admin) {
      return forbidden("You can only remove people below you.");
    }
  }
  return isLastOwner ? needsAnOwner : null;
}

/** Why someone may not say who is on a team, or null; undefined is who is in the workspace no more. */
export function refuseTeamChange(caller: Ranked | undefined): Refusal | null {
  if (caller === undefined) return { refused: "not-found" };
  if (caller.role !== "member") return null;
  const detail = "Only an owner or an admin can say who is on a team.";
  return { refused: "forbidden", title: "Not allowed to administer the team", detail, permission: "administer" };
}

/** The roles that the caller may give the target beside the one they hold, the highest first. */
export function assignableRoles(standing: RoleChange): Role[] {
  return roles.filter((role) => role !== standing.target.role && refuseRole(standing, role) === null);
}

function forbidden(detail: string, permission?: "administer"): Refusal {
  return permission === undefined
    ? { refused: "forbidden", title: "Not allowed to change this person", detail }
    : { refused: "forbidden", title: "Not allowed to administer the workspace", detail, permission };
}
