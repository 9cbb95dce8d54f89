import type { Subscriber } from "../../../runtime/cells/actor-type.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import { polls } from "../../integrations/poll.table.js";
import type { ResourceChanged } from "../../resources/resource.messages.js";
import { findResource } from "../../resources/resource.table.js";
import type { WorkspaceClosed } from "../../workspaces/workspace.machine.js";
import { pollRef } from "./poll.messages.js";

/** Starts, updates and ends polls when their integrations change or the workspace closes. */
export const pollSubscriber: Subscriber<ResourceChanged<"integration"> | WorkspaceClosed> = {
  name: "polls follow their integrations",
  facts: ["integration.changed", "workspace.closed"],
  handle(fact, turn) {
    const { partition } = turn.self;
    const check = (id: string) => turn.send(pollRef(partition, id), { type: "poll.check" });
    if (fact.name === "workspace.closed") {
      for (const { integrationId } of polls.list(turn, partition)) check(integrationId);
      return;
    }
    const fields = findResource<IntegrationFields>(turn, partition, "integration", fact.id)?.fields;
    const isSet = fields !== undefined && fields.poll !== null;
    if (isSet || polls.get(turn, partition, fact.id) !== undefined) check(fact.id);
  },
};
