import type { Subscriber } from "../../runtime/cells/actor-type.js";
import { defineArea } from "../area.js";
import type { ResourceChanged } from "../resources/resource.messages.js";
import { findResource } from "../resources/resource.table.js";
import type { WorkspaceClosed } from "../workspaces/workspace.machine.js";
import { configPullRequestActor } from "./config-pull-request.machine.js";
import { configPullRequestRef } from "./config-pull-request.messages.js";
import { configPullRequestRetention, configPullRequests } from "./config-pull-request.table.js";

/** Removes the rows of the config pull requests of a deleted team or a closed workspace. */
export const pullRequestsLeavingSubscriber: Subscriber<ResourceChanged<"team"> | WorkspaceClosed> = {
  name: "config pull requests go with their team and their workspace",
  facts: ["team.changed", "workspace.closed"],
  handle: (fact, turn) => {
    const { partition } = turn.self;
    const isClosed = fact.name === "workspace.closed";
    if (!isClosed && findResource(turn, partition, "team", fact.id) !== undefined) return;
    const gone = isClosed
      ? [...configPullRequests.rows(turn, partition)]
      : configPullRequests.all(turn, partition, { teamId: fact.id });
    for (const { candidateId } of gone) {
      turn.send(configPullRequestRef(partition, candidateId), { type: "pull-request.forget" });
    }
  },
};

/** Pull requests that replace a line's config with a candidate's config. The `searches` area provides their effects. */
export const configPullRequestsArea = defineArea({
  name: "config-pull-requests",
  actors: () => [configPullRequestActor],
  tables: [configPullRequestRetention],
  subscribers: [pullRequestsLeavingSubscriber],
});
