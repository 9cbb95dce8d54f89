import type { Role, Scope } from "../../caller.js";
import type { Permission } from "../../permission.js";

const memberPermissions: readonly Permission[] = ["read", "plan"];
const leadPermissions: readonly Permission[] = [
  "read",
  "plan",
  "configure",
  "manage-secrets",
  "manage-runners",
  "manage-token-trusts",
  "administer",
];

/** The permissions of each role (configuration API, Roles). */
export const rolePermissions: Readonly<Record<Role, readonly Permission[]>> = {
  owner: leadPermissions,
  admin: leadPermissions,
  member: memberPermissions,
};

/**
 * The permissions of each scope, including the permissions of other scopes that the scope grants (configuration API,
 * Token scopes).
 */
const scopePermissions: Readonly<Record<Scope, readonly Permission[]>> = {
  read: ["read"],
  plan: ["read", "plan"],
  configure: ["read", "plan", "configure"],
  secrets: ["read", "manage-secrets"],
  runners: ["read", "manage-runners"],
  trusts: ["read", "manage-token-trusts"],
  work: ["read", "work"],
};

/** Caches the permissions per list object. All requests of an issued token have the same list, from its cached row. */
const known = new WeakMap<readonly Scope[], readonly Permission[]>();

/** Returns the combined permissions of a token's scopes. */
export function listScopePermissions(scopes: readonly Scope[]): readonly Permission[] {
  const granted = known.get(scopes);
  if (granted !== undefined) return granted;
  const allowed = scopes.flatMap((scope) => scopePermissions[scope]);
  known.set(scopes, allowed);
  return allowed;
}

/** The scopes that a scope also grants (configuration API, Token scopes). */
const alsoGrants: Readonly<Record<Scope, readonly Scope[]>> = {
  read: [],
  plan: ["read"],
  configure: ["plan", "read"],
  secrets: ["read"],
  runners: ["read"],
  trusts: ["read"],
  work: ["read"],
};

/**
 * Returns whether `granted` includes all wanted scopes. A wanted scope may also be granted through another scope
 * ({@link alsoGrants}).
 */
export function holdsScopes(granted: readonly Scope[], wanted: readonly Scope[]): boolean {
  return wanted.every((scope) => granted.some((own) => own === scope || alsoGrants[own].includes(scope)));
}

/** Returns the title of a 403 for a missing permission. `about` is the resource kind (configuration API, Titles). */
export function forbiddenTitle(permission: Permission, about: string): string {
  if (permission === "plan") return "Not allowed to plan";
  if (permission === "open-workspaces") return "Not allowed to open a workspace";
  if (permission === "work") return "Not allowed to open tasks";
  if (permission === "administer") return `Not allowed to administer the ${about}`;
  return `Not allowed to change the ${about}`;
}
