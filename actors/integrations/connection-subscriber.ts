import type { Subscriber } from "../../runtime/actor-type.js";
import type { Fact, Turn } from "../../runtime/turn.js";
import type { MemberChanged } from "../workspaces/membership.transitions.js";
import { integrationConnectionAddress } from "./connection.machine.js";
import { type ConnectionHolder, listIntegrationConnections, listIntegrationsOfPerson } from "./connection.table.js";
import type { CheckConnection } from "./connection.transitions.js";

/** Has connections look whether they may still be: their integration changed, or people left its team. */
export const connectionSubscriber: Subscriber = {
  name: "connections end with what they are of",
  facts: ["integration.changed", "member.changed", "workspace.closed"],
  handle: (fact, turn) => {
    const { partition } = turn.self;
    if (fact.name === "member.changed") {
      const { userId } = fact as MemberChanged;
      for (const id of listIntegrationsOfPerson(turn, partition, userId)) check(turn, id, userId);
      return;
    }
    const under = fact.name === "integration.changed" ? [(fact as Fact & { readonly id: string }).id] : [];
    for (const { integrationId, holder } of listIntegrationConnections(turn, partition, under))
      check(turn, integrationId, holder);
  },
};

function check(turn: Turn, integrationId: string, holder: ConnectionHolder): void {
  const message: CheckConnection = { type: "connection.check" };
  turn.send(integrationConnectionAddress({ workspaceId: turn.self.partition, integrationId, holder }), message);
}
