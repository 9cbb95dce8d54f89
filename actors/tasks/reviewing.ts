/** Finds the pull request that a task reviews, and sends messages to the log actor of that pull request. */
import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import type { LineFields } from "../lines/line.js";
import { findOpenFrom } from "../pull-requests/pull-request.table.js";
import { findPullRequestLog } from "../pull-requests/pull-request-log.messages.js";
import type { RunEnding } from "../runners/protocol.js";
import type { TaskRow } from "./task.js";
import { taskRef } from "./task.messages.js";
import type { TaskReview } from "./task-review.js";

/**
 * Finds the open pull request whose head is the branch, in a connected repository of the line. Returns a review of it;
 * null if no such pull request is known.
 */
export function findBranchReview(
  reading: Reading,
  workspaceId: string,
  { repositories }: Pick<LineFields, "repositories">,
  branch: string,
): TaskReview | null {
  for (const { name: repository } of repositories) {
    if (findReachingConnection(reading, workspaceId, repository) === undefined) continue;
    const found = findOpenFrom(reading, workspaceId, { repository, branch });
    if (found !== undefined) return { repository, ref: `refs/pull/${found.number}/head`, url: found.url };
  }
  return null;
}

/**
 * Notifies the log actor of the reviewed pull request that this task reviews it. Does nothing if the task reviews no
 * pull request.
 */
export function beginReviewing(turn: Turn, { id: taskId, teamId, lineId, reviews }: TaskRow): void {
  const of = toPlace(reviews);
  if (of === null) return;
  turn.send(findPullRequestLog(turn, turn.self.partition, of), {
    type: "review.begun",
    teamId,
    lineId,
    taskId,
    ...of,
  });
}

/** Sends the result of a run to the log actor of the reviewed pull request, which posts the result as a review. */
export function reportReview(turn: Turn, { id, reviews }: TaskRow, runId: string, ending: RunEnding | null): void {
  const of = toPlace(reviews);
  if (of === null) return;
  const { partition } = turn.self;
  turn.send(findPullRequestLog(turn, partition, of), {
    type: "review.over",
    taskId: id,
    taskAddress: taskRef(partition, id),
    runId,
    ...of,
    text: ending?.kind === "finish" ? ending.note : "",
  });
}

function toPlace(review: TaskReview | undefined) {
  const number = /^refs\/pull\/(\d+)\/head$/.exec(review?.ref ?? "")?.[1];
  if (number === undefined || !review?.repository || review.url === null) return null;
  return { repository: review.repository, number: Number(number), url: review.url };
}
