import type { Subscriber } from "../../../runtime/cells/actor-type.js";
import type { ResourceChanged } from "../../resources/resource.messages.js";
import { findResource } from "../../resources/resource.table.js";
import type { WorkspaceClosed } from "../../workspaces/workspace.machine.js";
import { type DissolveSets, replaySetsRef } from "./replay-set.messages.js";
import { replaySets } from "./replay-set.table.js";

/** Removes the replay sets of a deleted team, or of all teams of a closed workspace. */
export const setsDissolvingSubscriber: Subscriber<ResourceChanged<"team"> | WorkspaceClosed> = {
  name: "replay sets go with their team and their workspace",
  facts: ["team.changed", "workspace.closed"],
  handle: (fact, turn) => {
    const { partition } = turn.self;
    const message: DissolveSets = { type: "sets.dissolve" };
    if (fact.name === "workspace.closed") {
      const teamIds = new Set([...replaySets.rows(turn, partition)].map(({ teamId }) => teamId));
      for (const teamId of teamIds) turn.send(replaySetsRef(partition, teamId), message);
    } else if (findResource(turn, partition, "team", fact.id) === undefined) {
      turn.send(replaySetsRef(partition, fact.id), message);
    }
  },
};
