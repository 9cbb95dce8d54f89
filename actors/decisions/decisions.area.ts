import type { Subscriber } from "../../runtime/cells/actor-type.js";
import { defineArea } from "../area.js";
import type { PullRequestOver } from "../pull-requests/hosted-status.js";
import { ownedBy } from "../tables/owned-rows.js";
import { tasks } from "../tasks/task.table.js";
import { decisions, standingRetention } from "./decision.table.js";
import { decisionSetActor } from "./decision-set.machine.js";
import { decisionSetRef } from "./decision-set.messages.js";

/**
 * When a task's pull request is merged, marks the task's decisions as standing. When the pull request is closed without
 * merging, discards the decisions.
 */
const pullRequestOverSubscriber: Subscriber<PullRequestOver> = {
  name: "decisions stand or are discarded with their pull request",
  facts: ["pull-request.over"],
  handle: ({ taskId, state, repository, url, atMs }, turn) => {
    const to = decisionSetRef(turn.self.partition, taskId);
    if (state === "merged") turn.send(to, { type: "decisions.merged", repository, url, atMs });
    else turn.send(to, { type: "decisions.closed" });
  },
};

/** Decisions that agents wrote down. */
export const decisionsArea = defineArea({
  name: "decisions",
  actors: () => [decisionSetActor],
  tables: [standingRetention, ownedBy(tasks.name, decisions)],
  subscribers: [pullRequestOverSubscriber],
});
