/**
 * Handles a push at the end of a run while the code host issues no tokens. The run keeps its runner and its changes,
 * and may push again after the rate limit. The service does not ask hooks again.
 */
import type { InTurn } from "../../runtime/cells/chart.js";
import { timeText } from "../time-text.js";
import type { AskingRun, PullRequestContext } from "./pull-request.js";
import { changePullRequest, getPullRequest, noteOnTask } from "./pull-request-row.js";
import { sendAllowed } from "./vetting.js";

const PUSH = "push";

/**
 * Records until when the code host issues no tokens. If the push is at the run's end, the runner's report about this
 * push then does not count as a failure.
 */
export function noteLimit({ untilMs }: { readonly untilMs: number }, context: PullRequestContext): PullRequestContext {
  return context.run === null ? context : { ...context, run: { ...context.run, limitedUntilMs: untilMs } };
}

/**
 * Schedules the next push. This wait does not count as an attempt. Adds a note about the rate limit to the task, unless
 * the pull request was already waiting.
 */
export function waitToPush(
  { turn, untilMs, why }: InTurn & { readonly untilMs: number; readonly why: string },
  context: PullRequestContext,
): PullRequestContext {
  const isFirst = getPullRequest(turn).waitsUntil === null;
  const row = changePullRequest(turn, context, { waitsUntil: timeText(untilMs) });
  turn.wake(PUSH, untilMs);
  const text = `${row.host} limits requests (${why}) The push to ${row.repository} is retried after ${timeText(untilMs)}.`;
  if (isFirst) noteOnTask(turn, context, text);
  return context;
}

/** Allows the runner to push again. */
export function pushAgain({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  if (context.run === null) return context;
  const { limitedUntilMs: _over, ...of } = context.run;
  const run: AskingRun = { ...of, push: turn.newId("push") };
  const asked = { ...context, run };
  sendAllowed(turn, asked, getPullRequest(turn));
  return asked;
}

/** Cancels the scheduled push. */
export function endWaiting({ turn }: InTurn): void {
  turn.cancelWake(PUSH);
}
