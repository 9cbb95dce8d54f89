import { inviteRetention } from "./access/invites/invite.table.js";
import { replayCheckRetention } from "./checks/check.retention.js";
import { configPullRequestRetention } from "./config-pull-requests/config-pull-request.table.js";
import { decisions, standingRetention } from "./decisions/decision.table.js";
import { callEventRetention, eventRetention } from "./events/event-log.table.js";
import { attemptsOwned, hookOccurrenceRetention } from "./hooks/hook-occurrence.retention.js";
import { changesFiredRetention } from "./hooks/loop-guard.js";
import { actionRunRetention } from "./integration-work/actions/action-run.table.js";
import { deliveries, deliveryEntries } from "./integration-work/deliveries/delivery.table.js";
import { heardRevertRetention } from "./pull-requests/heard-revert.table.js";
import { pullRequestRetention } from "./pull-requests/pull-request.table.js";
import { replayRetention } from "./replays/replay/replay.retention.js";
import { changeRetention } from "./resources/change-record.table.js";
import { pullRequestFactRetention } from "./run-facts/pull-request-fact.table.js";
import { reviewFactRetention } from "./run-facts/review-fact.table.js";
import { factRetention } from "./run-facts/run-fact.table.js";
import { stayRetention } from "./run-facts/stay.table.js";
import { runOwned, runRetention } from "./runs/run.retention.js";
import { searchRetention } from "./searches/search/search.retention.js";
import { ownedBy } from "./tables/owned-rows.js";
import type { RetentionCatalogue } from "./tables/retention-sweeper.machine.js";
import { taskOwned, taskRetention } from "./tasks/task.retention.js";
import { tasks } from "./tasks/task.table.js";
import { toolCallsOwned } from "./tool-calls/tool-call.retention.js";

/**
 * The rows that the service removes some time after they end (`tables/retention.ts`): the rules of tables, in the order
 * of a pass, and the rows that are removed after the rows that own them. A listed event retains its task, so events
 * come first.
 */
export const retainedTables: RetentionCatalogue = {
  rules: [
    changeRetention,
    eventRetention,
    callEventRetention,
    taskRetention,
    runRetention,
    replayRetention,
    searchRetention,
    replayCheckRetention,
    configPullRequestRetention,
    pullRequestRetention,
    heardRevertRetention,
    factRetention,
    pullRequestFactRetention,
    reviewFactRetention,
    stayRetention,
    hookOccurrenceRetention,
    actionRunRetention,
    changesFiredRetention,
    inviteRetention,
    standingRetention,
  ],
  owned: [
    ...taskOwned,
    ...runOwned,
    ...toolCallsOwned,
    attemptsOwned,
    ownedBy(tasks.name, decisions),
    ownedBy(deliveries.name, deliveryEntries),
  ],
};
