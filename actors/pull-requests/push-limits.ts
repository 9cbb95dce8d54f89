/**
 * The code host makes no token for a push for now. The run keeps its runner and what is to be pushed, and is let push
 * again when the code host takes more: hooks have answered, and are not asked again.
 */
import type { InTurn } from "../../runtime/chart.js";
import { timeText } from "../time-text.js";
import type { AskingRun, PullRequestContext } from "./pull-request.js";
import { changePullRequest, getPullRequest, noteOnTask } from "./pull-request-row.js";
import { sendAllowed } from "./vetting.js";

const PUSH = "push";

/** What the runner says of this push is no failure. */
export function noteLimit({ untilMs }: { readonly untilMs: number }, context: PullRequestContext): PullRequestContext {
  return context.run === null ? context : { ...context, run: { ...context.run, limitedUntilMs: untilMs } };
}

/** The push was not made. It is made again later, which counts as no attempt: the task is told until when it waits. */
export function waitToPush(
  { turn, untilMs, why }: InTurn & { readonly untilMs: number; readonly why: string },
  context: PullRequestContext,
): PullRequestContext {
  const isFirst = getPullRequest(turn).waitsUntil === null;
  const row = changePullRequest(turn, context, { waitsUntil: timeText(untilMs) });
  turn.wake(PUSH, untilMs);
  const text = `${row.host} takes no more for now (${why}) What was changed in ${row.repository} is pushed after ${timeText(untilMs)}.`;
  if (isFirst) noteOnTask(turn, context, text);
  return context;
}

/** The runner may push again. */
export function pushAgain({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  if (context.run === null) return context;
  const { limitedUntilMs: _over, ...of } = context.run;
  const run: AskingRun = { ...of, push: turn.newId("push") };
  const asked = { ...context, run };
  sendAllowed(turn, asked, getPullRequest(turn));
  return asked;
}

/** Nothing waits to be pushed any more. */
export function endWaiting({ turn }: InTurn): void {
  turn.cancelWake(PUSH);
}
