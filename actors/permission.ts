/** A caller's permission, by the reference's name (configuration API, Permissions). */
export type Permission =
  | "read"
  | "plan"
  | "configure"
  | "manage-secrets"
  | "manage-runners"
  | "manage-token-trusts"
  | "administer"
  | "open-workspaces";
