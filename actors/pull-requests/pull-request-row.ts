import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import { findTaskBranch, type TaskBranch, taskBranches } from "../runs/task-branch.table.js";
import { type PullRequestContext, type PullRequestRow, toCheckout } from "./pull-request.js";
import type { PullRequestNote, TaskPullRequestChanged } from "./pull-request.messages.js";
import { pullRequests } from "./pull-request.table.js";
import { recordPullRequestFact } from "./pull-request-fact.js";

/** Returns the pull request's row. The row exists from the first vetting on. */
export function getPullRequest(turn: TurnReading): PullRequestRow {
  const row = pullRequests.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined) throw new Error("a pull request without its row");
  return row;
}

/** Stores changes of the row, and notifies the task if the state or the URL changed. */
export function changePullRequest(
  turn: Turn,
  { taskAddress }: Pick<PullRequestContext, "taskAddress">,
  changed: Partial<PullRequestRow>,
): PullRequestRow {
  const before = getPullRequest(turn);
  const row = { ...before, ...changed };
  pullRequests.put(turn, turn.self.partition, before, row);
  recordPullRequestFact(turn, before, row);
  const isNews = row.state !== before.state || row.url !== before.url;
  if (isNews && taskAddress !== null) {
    const message: TaskPullRequestChanged = { type: "pull-request.changed", pullRequestId: row.id };
    turn.send(taskAddress, message);
  }
  return row;
}

/** Adds a note to the task. */
export function noteOnTask(turn: Turn, { taskAddress }: Pick<PullRequestContext, "taskAddress">, text: string): void {
  if (taskAddress === null) return;
  const note: PullRequestNote = { type: "note", from: "service", text, key: turn.newId("note") };
  turn.send(taskAddress, note);
}

/**
 * Changes the task's branch row. Only the pull request that owns the branch writes this row. Does nothing if the task
 * was removed.
 */
export function changeTaskBranch(turn: Turn, row: PullRequestRow, changed: Partial<TaskBranch>): void {
  const { partition } = turn.self;
  const { taskId, id } = row;
  if (taskId === null) return;
  const repository = toCheckout(row);
  const before = findTaskBranch(turn, partition, { taskId, repository });
  if (before === undefined) return;
  // Do not change the branch if a later pull request of the task owns it now.
  if (before.pullRequestId !== null && before.pullRequestId !== id) return;
  taskBranches.put(turn, partition, [taskId, repository], { ...before, ...changed });
}
