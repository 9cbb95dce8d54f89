import type { Subscriber } from "../../runtime/cells/actor-type.js";
import type { PullRequestOver } from "../pull-requests/hosted-status.js";
import { decisionSetRef } from "./decision-set.messages.js";

/**
 * Makes a task's decisions stand when its pull request is merged, and discards them when it is closed without merging.
 */
export const pullRequestOverSubscriber: Subscriber<PullRequestOver> = {
  name: "decisions stand or are discarded with their pull request",
  facts: ["pull-request.over"],
  handle: ({ taskId, state, repository, url, atMs }, turn) => {
    const to = decisionSetRef(turn.self.partition, taskId);
    if (state === "merged") turn.send(to, { type: "decisions.merged", repository, url, atMs });
    else turn.send(to, { type: "decisions.closed" });
  },
};
