import type { Subscriber } from "../../runtime/cells/actor-type.js";
import type { ResourceChanged } from "../resources/resource.messages.js";
import { retentionRef } from "../tables/retention-sweeper.machine.js";

/** Starts retention for a new workspace. */
export const retentionSubscriber: Subscriber<ResourceChanged<"workspace">> = {
  name: "retention begins with a workspace",
  facts: ["workspace.changed"],
  handle: (_fact, turn) => turn.send(retentionRef(turn.self.partition), { type: "retention.begin" }),
};
