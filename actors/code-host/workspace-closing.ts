import type { Subscriber } from "../../runtime/actor-type.js";
import type { ReleaseInstallation } from "./connection-messages.js";
import { connectionActor, connectionsOf } from "./connection-rows.js";

/** Gives the installations of a workspace free when it closes. */
export const givesInstallationsFree: Subscriber = {
  name: "installations are given free when their workspace closes",
  facts: ["workspace.closed"],
  handle: (_fact, turn) => {
    const { partition } = turn.self;
    const message: ReleaseInstallation = { type: "installation.release" };
    for (const connection of connectionsOf(turn, partition)) turn.send(connectionActor(partition, connection), message);
  },
};
