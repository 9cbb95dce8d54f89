import type { Schema } from "../../client/entry.js";

/** A scope of a workspace token. */
export type Scope = Schema<"WorkspaceTokenInput">["scopes"][number];

/** Describes, for each scope, what a token with this scope may do. */
export const SCOPES: Readonly<Record<Scope, string>> = {
  read: "read configuration, tasks, runs and replays, and follow streams",
  plan: "read, and start replays, checks and searches",
  configure: "plan, and write teams, lines, skills, harness profiles, integrations and hooks",
  secrets: "write secrets (with read, plan or configure)",
  runners: "write runner pools and runner trusts (with read, plan or configure)",
  trusts: "write token trusts (with read, plan or configure)",
  work: "read, open tasks, add notes, and close the tasks that it opened",
};
