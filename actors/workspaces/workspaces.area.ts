import { defineArea } from "../area.js";
import { memberSource, members, memberships } from "./member.table.js";
import { retentionSubscriber } from "./retention-subscriber.js";
import { marks, sealingKeyActor } from "./sealing-key.machine.js";
import { secretKind } from "./secret.kind.js";
import { claims, slugClaimsActor } from "./slug-claims.machine.js";
import { teamKind } from "./team.kind.js";
import { workspaceKind } from "./workspace.kind.js";

/** Workspaces with their teams, secrets and members. */
export const workspacesArea = defineArea({
  name: "workspaces",
  kinds: () => [workspaceKind, secretKind, teamKind],
  actors: () => [slugClaimsActor, sealingKeyActor],
  tables: [members, claims.rows, marks],
  directories: [memberships],
  directorySources: () => [memberSource],
  subscribers: [retentionSubscriber],
});
