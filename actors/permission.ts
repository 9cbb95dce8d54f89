/**
 * A caller's permission. The names are those of the configuration API, except `work`: a token needs it to open tasks.
 * People need to be on the team instead.
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
