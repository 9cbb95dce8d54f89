/**
 * A permission of a caller. The names are those of the configuration API, except `work`. A token needs `work` to open
 * tasks; a person must be on the team instead.
 */
export type Permission =
  | "read"
  | "plan"
  | "configure"
  | "manage-secrets"
  | "manage-runners"
  | "manage-token-trusts"
  | "administer"
  | "open-workspaces"
  | "work";
