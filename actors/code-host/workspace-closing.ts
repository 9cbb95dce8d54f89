import type { Subscriber } from "../../runtime/cells/actor-type.js";
import { codeHostConnectionRef, type ReleaseInstallation } from "./connection.messages.js";
import { listCodeHostConnections } from "./connection.queries.js";

/** Releases the installations of a workspace when it closes. */
export const workspaceClosingSubscriber: Subscriber = {
  name: "installations are given free when their workspace closes",
  facts: ["workspace.closed"],
  handle: (_fact, turn) => {
    const { partition } = turn.self;
    const message: ReleaseInstallation = { type: "installation.release" };
    for (const connection of listCodeHostConnections(turn, partition))
      turn.send(codeHostConnectionRef(partition, connection), message);
  },
};
