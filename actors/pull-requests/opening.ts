/**
 * Opens the pull request at the code host. The effect searches for an existing one first, so that repeated attempts
 * create only one pull request.
 */
import type { InTurn } from "../../runtime/cells/chart.js";
import { readStoredText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { OPEN_PULL_REQUEST } from "./open.effects.js";
import type { PullRequestContext } from "./pull-request.js";
import { changePullRequest, changeTaskBranch, getPullRequest, noteOnTask } from "./pull-request-row.js";
import { notifyRun } from "./vetting.js";

const OPEN = "open";

/** Records the pushed commit. If the run requested the push at its end, sends the run the result. */
export function takePushed({ turn, head }: PushedTo, context: PullRequestContext): PullRequestContext {
  const row = changePullRequest(turn, context, { head, waitsUntil: null });
  changeTaskBranch(turn, row, { head });
  return context.run !== null && context.run.wish === null
    ? notifyRun(turn, context, { url: row.url, refused: null })
    : context;
}

interface PushedTo extends InTurn {
  readonly head: string;
}

/**
 * Starts to open the pull request. On a retry, the effect also accepts a closed or merged pull request that was opened
 * since the first attempt.
 */
export function beginOpening(
  { turn, type }: InTurn & { readonly type: "pushed.first" | "pushed.again" | "pull-request.retry" },
  context: PullRequestContext,
): PullRequestContext {
  changePullRequest(turn, context, { state: "opening", problem: null, waitsUntil: null });
  const sinceMs = type === "pull-request.retry" ? context.sinceMs : turn.now;
  return attemptOpening({ turn }, { ...context, attempts: 0, sinceMs });
}

/** Starts another attempt to open the pull request. */
export function attemptOpening({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  const { partition } = turn.self;
  const { host, installationId, repository, taskId, branch, base, title, body, draft } = getPullRequest(turn);
  const attempts = context.attempts + 1;
  const input = {
    host,
    installationId,
    repository,
    taskId: taskId ?? "",
    branch,
    base,
    title,
    draft,
    body: readStoredText(turn, partition, body),
    sinceMs: context.sinceMs,
  };
  turn.start(OPEN_PULL_REQUEST.request(turn.newId("open"), input));
  return { ...context, attempts };
}

/** Schedules the next attempt. */
export function waitToOpen({ turn, untilMs }: InTurn & { readonly untilMs: number }): void {
  turn.wake(OPEN, untilMs);
}

/**
 * Waits until the code host's rate limit ends. This wait does not count as an attempt. A note on the task names the end
 * of the wait.
 */
export function waitForLimit(
  { turn, untilMs, why }: InTurn & { readonly untilMs: number; readonly why: string },
  context: PullRequestContext,
): PullRequestContext {
  const waitsUntil = new Date(untilMs).toISOString();
  const isFirst = getPullRequest(turn).waitsUntil === null;
  const row = changePullRequest(turn, context, { waitsUntil });
  turn.wake(OPEN, untilMs);
  const text = `${row.host} limits requests (${why}) The pull request of ${row.repository} is retried after ${timeText(untilMs)}.`;
  if (isFirst) noteOnTask(turn, context, text);
  const reported = notifyRun(turn, context, { url: null, refused: null });
  return { ...reported, attempts: context.attempts - 1 };
}

/** Records that the opening failed. The service tries again only when a person or a run requests it. */
export function failOpening(
  { turn, why }: InTurn & { readonly why: string },
  context: PullRequestContext,
): PullRequestContext {
  const row = changePullRequest(turn, context, { state: "failed", problem: why, waitsUntil: null });
  turn.cancelWake(OPEN);
  noteOnTask(turn, context, `The pull request of ${row.repository} could not be opened: ${why}`);
  return notifyRun(turn, context, { url: null, refused: why });
}

/** Cancels further attempts, because the pull request exists at the code host. */
export function endOpening({ turn }: InTurn): void {
  turn.cancelWake(OPEN);
}
