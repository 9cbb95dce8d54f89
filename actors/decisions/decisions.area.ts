import { defineArea } from "../area.js";
import { ownedBy } from "../tables/owned-rows.js";
import { tasks } from "../tasks/task.table.js";
import { decisions, standingRetention } from "./decision.table.js";
import { decisionSetActor } from "./decision-set.machine.js";
import { pullRequestOverSubscriber } from "./pull-request-over.js";

/** Decisions that agents wrote down. */
export const decisionsArea = defineArea({
  name: "decisions",
  actors: () => [decisionSetActor],
  tables: [standingRetention, ownedBy(tasks.name, decisions)],
  subscribers: [pullRequestOverSubscriber],
});
