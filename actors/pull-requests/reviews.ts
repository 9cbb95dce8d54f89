/**
 * Posts the reviews that tasks write. The pull request's row names the task. The service posts each run's result to the
 * pull request as one review, which neither approves nor requests changes.
 */
import type { EffectEnded, Turn, Woken } from "../../runtime/turns/turn.js";
import type { CodeHostConnection } from "../code-host/connection.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import { MAX_ATTEMPTS } from "../outbound/http/retry-wait.js";
import { timeText } from "../time-text.js";
import { toHostAnswer } from "./code-host-answer.js";
import { LOOK_AT_PULL_REQUEST } from "./look.effects.js";
import type { ReviewOver, ReviewStarted } from "./pull-request.messages.js";
import { listByNumber } from "./pull-request.table.js";
import { beginPeoples, storePeoples } from "./pull-request-log.transitions.js";
import { noteOnTask } from "./pull-request-row.js";
import { REVIEW_EFFECT, type ReviewResult } from "./review.effects.js";
import { type WaitingReview, waitingReviews } from "./waiting-review.table.js";
import { findWait } from "./waits.js";

const REVIEW = "review";

/**
 * Records on the team's row that the task reviews the pull request. If the team has no row for the pull request,
 * creates one and reads the pull request from the code host. Does nothing for a task's own pull request, or if no
 * connection reaches the repository.
 */
export function beginReview(turn: Turn, { teamId, lineId, taskId, repository, number, url }: ReviewStarted): void {
  const { partition } = turn.self;
  const connection = findConnection(turn, { repository, url });
  const rows = listByNumber(turn, partition, { repository, number });
  if (connection === undefined || rows.some(({ role }) => role === "own")) return;
  const before = rows.find((row) => row.teamId === teamId);
  const reviewed = { role: "review", taskId, lineId } as const;
  if (before !== undefined) return storePeoples(turn, before, { ...before, ...reviewed });
  const { host, installationId } = connection;
  const at = { host, installationId, repository, number };
  storePeoples(turn, null, { ...beginPeoples(turn, teamId, at), ...reviewed, url });
  turn.cancelEffect(`look ${number}`);
  turn.start(LOOK_AT_PULL_REQUEST.request(`look ${number}`, { ...at, etag: null }));
}

/**
 * Finds the connection that reaches the repository. Undefined if there is none, or if its code host is not the host in
 * the URL.
 */
function findConnection(
  turn: Turn,
  { repository, url }: Pick<ReviewOver, "repository" | "url">,
): CodeHostConnection | undefined {
  const connection = findReachingConnection(turn, turn.self.partition, repository);
  return connection?.host === new URL(url).host ? connection : undefined;
}

/**
 * Starts to post a run's review, unless the service is already posting it. If the review is empty or no connection
 * reaches the repository, only adds a note to the task.
 */
export function postReview(turn: Turn, { type: _type, ...over }: ReviewOver): void {
  const { partition } = turn.self;
  const { taskId, runId, url } = over;
  if (waitingReviews.get(turn, partition, taskId, runId) !== undefined) return;
  if (over.text.trim() === "") return noteOnTask(turn, over, `The review of ${url} is empty and was not posted.`);
  const connection = findConnection(turn, over);
  if (connection === undefined) {
    const why = `no connected installation of the code host has access to ${over.repository}.`;
    return noteOnTask(turn, over, `The review of ${url} was not posted: ${why}`);
  }
  const { host, installationId } = connection;
  attempt(turn, { ...over, host, installationId, attempts: 0, isLimited: false });
}

function attempt(turn: Turn, waiting: WaitingReview): void {
  const { taskAddress: _address, url: _url, attempts, isLimited: _limited, ...input } = waiting;
  const { taskId, runId } = waiting;
  waitingReviews.put(turn, turn.self.partition, [taskId, runId], { ...waiting, attempts: attempts + 1 });
  turn.start(REVIEW_EFFECT.request(`${REVIEW} ${taskId} ${runId}`, input));
}

/** Retries a review. */
export function takeWoken(turn: Turn, { name }: Woken): void {
  const waiting = findWaiting(turn, name);
  if (waiting !== undefined) attempt(turn, waiting);
}

/**
 * Returns the waiting review that the name of a wake-up or an effect belongs to. Returns undefined in these cases:
 *
 * - The name does not belong to a review.
 * - The review was posted or given up.
 * - The review's task was removed.
 */
function findWaiting(turn: Turn, name: string): WaitingReview | undefined {
  const [what, taskId = "", runId = ""] = name.split(" ");
  return what === REVIEW ? waitingReviews.get(turn, turn.self.partition, taskId, runId) : undefined;
}

/** Reports the result of the review on the task, or schedules a retry. */
export function takeReview(turn: Turn, { id, result }: Pick<EffectEnded<ReviewResult>, "id" | "result">): void {
  const waiting = findWaiting(turn, id);
  if (waiting === undefined) return;
  const answer = toHostAnswer(result);
  if (answer.problem === null) return endReview(turn, waiting, `Review posted: ${answer.url}`);
  if (answer.problem === "refused" || (answer.problem === "again" && waiting.attempts >= MAX_ATTEMPTS)) {
    return endReview(turn, waiting, `The review of ${waiting.url} could not be posted: ${answer.why}`);
  }
  const { taskId, runId, attempts, isLimited } = waiting;
  const atMs = findWait(answer, attempts, turn.now);
  turn.wake(id, atMs);
  if (answer.problem !== "limited") return;
  const limited = { ...waiting, attempts: attempts - 1, isLimited: true };
  waitingReviews.put(turn, turn.self.partition, [taskId, runId], limited);
  const text = `${waiting.host} limits requests (${answer.why}) The review of ${waiting.url} is retried after ${timeText(atMs)}.`;
  if (!isLimited) noteOnTask(turn, waiting, text);
}

function endReview(turn: Turn, waiting: WaitingReview, note: string): void {
  waitingReviews.remove(turn, turn.self.partition, waiting.taskId, waiting.runId);
  noteOnTask(turn, waiting, note);
}
