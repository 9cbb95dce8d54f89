/** A caller's permission, by its name in the API reference (configuration API, Permissions). */
export type Permission =
  | "read"
  | "plan"
  | "configure"
  | "manage-secrets"
  | "manage-runners"
  | "manage-token-trusts"
  | "administer"
  | "open-workspaces";
