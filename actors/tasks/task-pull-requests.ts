/**
 * What a task makes of its pull requests. They are opened before it is done; while one is open, what its runs changed is
 * neither accepted nor sent back, and the task may go on although it is done.
 */
import { toEvent } from "../../runtime/chart.js";
import type { Turn, TurnReading } from "../../runtime/turn.js";
import type { PullRequestRow } from "../pull-requests/pull-request.js";
import type { TaskPullRequestChanged } from "../pull-requests/pull-request.messages.js";
import { listTaskPullRequests, pullRequests } from "../pull-requests/pull-request.table.js";
import type { RunRow } from "../runs/run.js";
import { acceptStanding, leaveStanding } from "./ended-runs.js";
import type { NextStation, TaskContext, TaskPullRequest, TaskRow } from "./task.js";

/** Whether a pull request of the task is open. Reads only. */
export function hasOpenPullRequest(turn: TurnReading): boolean {
  return listOwn(turn).some(({ state }) => state === "open");
}

function listOwn(turn: TurnReading): readonly PullRequestRow[] {
  return listTaskPullRequests(turn, turn.self.partition, turn.self.id).filter(({ role }) => role === "own");
}

/**
 * Where the task goes after a run, by what became of the run's changes too: to its assignee when something was not
 * pushed or not opened, and it is not done while something is being opened. Reads only.
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

/** Whether all of these are opened, and what to ask the assignee when one could not be. */
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

/** The event of a change of a pull request, for a task that waits for it. Reads only. */
export function toOpenedEvent(message: TaskPullRequestChanged, { opening }: TaskContext, turn: TurnReading) {
  const { asks, isOver } = judgeOpening(turn, opening);
  if (asks !== null) return toEvent("opened.inbox", { asks });
  return isOver ? toEvent("opened.done", { asks: null }) : message;
}

/** The row with its pull request as it is now: one that is open, else the last that was opened. */
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

/** What becomes of the task's ended runs now that none of its pull requests is open: the last one says it. */
export function settlePullRequests(turn: Turn, { ended }: TaskContext, { pullRequestId }: TaskPullRequestChanged) {
  const state = pullRequests.get(turn, turn.self.partition, pullRequestId)?.state;
  if (hasOpenPullRequest(turn)) return ended;
  if (state === "merged") return acceptStanding(turn, ended);
  return state === "closed" ? leaveStanding(turn, ended) : ended;
}
