/** What a caller may be allowed to do, by the reference's names (configuration API, Permissions). */
export type Permission =
  | "read"
  | "plan"
  | "configure"
  | "manage-secrets"
  | "manage-runners"
  | "manage-token-trusts"
  | "administer"
  | "open-workspaces";
