/**
 * How pull requests affect their task. A task is not done before its pull requests are opened. While a pull request is
 * open, the changes of the task's runs are not accepted, and a done task can be resumed.
 */
import { toEvent } from "../../runtime/cells/chart.js";
import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import type { PullRequestRow } from "../pull-requests/pull-request.js";
import type { TaskPullRequestChanged } from "../pull-requests/pull-request.messages.js";
import { listTaskPullRequests, pullRequests } from "../pull-requests/pull-request.table.js";
import type { RunRow } from "../runs/run.js";
import { acceptChanges, markUnaccepted } from "./ended-runs.js";
import type { NextStation, TaskContext, TaskPullRequest, TaskRow } from "./task.js";

/** Whether a pull request of the task is open. Reads only. */
export function hasOpenPullRequest(turn: TurnReading): boolean {
  return listOwn(turn).some(({ state }) => state === "open");
}

function listOwn(turn: TurnReading): readonly PullRequestRow[] {
  return listTaskPullRequests(turn, turn.self.partition, turn.self.id).filter(({ role }) => role === "own");
}

/**
 * Corrects the decision on where the task goes after a run, by the results of the run's pushes. Reads only.
 *
 * - If a push was refused, the task goes to its assignee.
 * - If the task would be done but the opening of a pull request failed, the task goes to its assignee.
 * - If the task would be done but a pull request is still being opened, the task waits.
 */
export function withPullRequests(turn: TurnReading, run: RunRow | undefined, decided: NextStation): NextStation {
  const pushed = run?.pullRequests ?? [];
  const refused = pushed.find((one) => one.refused !== null);
  if (refused !== undefined) {
    const asks = `The pull request of ${refused.repository} was not opened: ${refused.refused}`;
    return { next: "inbox", asks: decided.asks === undefined ? asks : `${decided.asks}\n\n${asks}` };
  }
  if (decided.next !== "done") return decided;
  const opening = pushed.flatMap(({ pullRequestId }) => pullRequestId ?? []);
  const { asks, isOver } = judgeOpening(turn, opening);
  if (asks !== null) return { next: "inbox", asks };
  return isOver ? decided : { next: "opening", opening };
}

/**
 * `isOver`: whether none of the pull requests is still being opened. `asks`: the question for the assignee if a pull
 * request failed to open; null otherwise.
 */
function judgeOpening(
  turn: TurnReading,
  ids: readonly string[],
): { readonly asks: string | null; readonly isOver: boolean } {
  const rows = ids.flatMap((id) => pullRequests.get(turn, turn.self.partition, id) ?? []);
  const failed = rows.find(({ state }) => state === "failed");
  const asks =
    failed === undefined ? null : `The pull request of ${failed.repository} was not opened: ${failed.problem}`;
  return { asks, isOver: !rows.some(({ state }) => state === "opening") };
}

/** Returns the event of a pull request change, for a task that waits for openings. Reads only. */
export function toOpenedEvent(message: TaskPullRequestChanged, { opening }: TaskContext, turn: TurnReading) {
  const { asks, isOver } = judgeOpening(turn, opening);
  if (asks !== null) return toEvent("opened.inbox", { asks });
  return isOver ? toEvent("opened.done", { asks: null }) : message;
}

/** Returns the row with the pull request to show: an open one if there is one, otherwise the one opened last. */
export function showPullRequest(turn: TurnReading, row: TaskRow): TaskRow {
  const shown = listOwn(turn).flatMap((one) => toShown(one) ?? []);
  const pullRequest = shown.findLast(({ state }) => state === "open") ?? shown.at(-1) ?? null;
  return { ...row, pullRequest };
}

function toShown({ id, repository, number, url, state }: PullRequestRow): TaskPullRequest | null {
  if (number === null || url === null) return null;
  const isOver = state === "merged" || state === "closed";
  return { id, repository, number, url, state: isOver ? state : "open" };
}

/**
 * Settles the outcomes of the task's ended runs once none of its pull requests is open. The pull request that ended
 * last decides.
 */
export function settlePullRequests(turn: Turn, { ended }: TaskContext, { pullRequestId }: TaskPullRequestChanged) {
  const state = pullRequests.get(turn, turn.self.partition, pullRequestId)?.state;
  if (hasOpenPullRequest(turn)) return ended;
  if (state === "merged") return acceptChanges(turn, ended);
  return state === "closed" ? markUnaccepted(turn, ended) : ended;
}
