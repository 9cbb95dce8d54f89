import type { Subscriber } from "../../runtime/cells/actor-type.js";
import type { Turn } from "../../runtime/turns/turn.js";
import type { ResourceChanged } from "../resources/resource.messages.js";
import type { MemberChanged } from "../workspaces/membership.transitions.js";
import type { WorkspaceClosed } from "../workspaces/workspace.machine.js";
import type { ConnectionHolder } from "./connection.js";
import { type CheckConnection, integrationConnectionRef } from "./connection.messages.js";
import { listIntegrationConnections, listIntegrationsOfPerson } from "./connection.table.js";

/**
 * Makes connections check whether they are still permitted, after the integration or a membership changed, or the
 * workspace closed.
 */
export const connectionSubscriber: Subscriber<ResourceChanged<"integration"> | MemberChanged | WorkspaceClosed> = {
  name: "connections end with what they are of",
  facts: ["integration.changed", "member.changed", "workspace.closed"],
  handle(fact, turn) {
    const { partition } = turn.self;
    if (fact.name === "member.changed") {
      const { userId } = fact;
      for (const id of listIntegrationsOfPerson(turn, partition, userId)) check(turn, id, userId);
      return;
    }
    const under = fact.name === "integration.changed" ? [fact.id] : [];
    for (const { integrationId, holder } of listIntegrationConnections(turn, partition, under))
      check(turn, integrationId, holder);
  },
};

function check(turn: Turn, integrationId: string, holder: ConnectionHolder): void {
  const message: CheckConnection = { type: "connection.check" };
  turn.send(integrationConnectionRef({ workspaceId: turn.self.partition, integrationId, holder }), message);
}
