import { defineArea } from "../area.js";
import { configPullRequestActor } from "./config-pull-request.machine.js";
import { configPullRequestRetention } from "./config-pull-request.table.js";
import { pullRequestsLeavingSubscriber } from "./pull-requests-leaving.js";

/**
 * Pull requests that change the config of a line to that of a candidate. The `searches` area provides their effects.
 */
export const configPullRequestsArea = defineArea({
  name: "config-pull-requests",
  actors: () => [configPullRequestActor],
  tables: [configPullRequestRetention],
  subscribers: [pullRequestsLeavingSubscriber],
});
