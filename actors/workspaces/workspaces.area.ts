import type { Subscriber } from "../../runtime/cells/actor-type.js";
import { defineArea } from "../area.js";
import type { ResourceChanged } from "../resources/resource.messages.js";
import { retentionRef } from "../tables/retention-sweeper.machine.js";
import { memberSource, members, memberships } from "./member.table.js";
import { marks, sealingKeyActor } from "./sealing-key.machine.js";
import { secretKind } from "./secret.kind.js";
import { claims, slugClaimsActor } from "./slug-claims.machine.js";
import { teamKind } from "./team.kind.js";
import { workspaceKind } from "./workspace.kind.js";

/** Starts retention for a new workspace. */
const retentionSubscriber: Subscriber<ResourceChanged<"workspace">> = {
  name: "retention begins with a workspace",
  facts: ["workspace.changed"],
  handle: (_fact, turn) => turn.send(retentionRef(turn.self.partition), { type: "retention.begin" }),
};

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
