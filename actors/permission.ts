/**
 * A caller's permission, by its name in the configuration API (Permissions). `work` is an addition: a token needs it to
 * open tasks. People need to be on the team instead.
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
