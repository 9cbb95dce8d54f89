/**
 * It is opened at the code host. The effect asks for one of the branch first, so that whatever became of an earlier
 * attempt there is one pull request.
 */
import type { InTurn } from "../../runtime/chart.js";
import { readStoredText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { OPEN_PULL_REQUEST } from "./open.effects.js";
import type { PullRequestContext } from "./pull-request.js";
import { changePullRequest, changeTaskBranch, getPullRequest, noteOnTask } from "./pull-request-row.js";
import { tellRun } from "./vetting.js";

const OPEN = "open";

/** The branch is at the code host: a run at its end need not wait any more. */
export function takePushed({ turn, head }: PushedTo, context: PullRequestContext): PullRequestContext {
  const row = changePullRequest(turn, context, { head, waitsUntil: null });
  changeTaskBranch(turn, row, { head });
  return context.run !== null && context.run.wish === null
    ? tellRun(turn, context, { url: row.url, refused: null })
    : context;
}

interface PushedTo extends InTurn {
  readonly head: string;
}

/** Begins to open it; once more after it failed: one that was opened since the first attempt is this one. */
export function beginOpening(
  { turn, type }: InTurn & { readonly type: "pushed.first" | "pushed.again" | "pull-request.retry" },
  context: PullRequestContext,
): PullRequestContext {
  changePullRequest(turn, context, { state: "opening", problem: null, waitsUntil: null });
  const sinceMs = type === "pull-request.retry" ? context.sinceMs : turn.now;
  return attemptOpening({ turn }, { ...context, attempts: 0, sinceMs });
}

/** Asks the code host once more. */
export function attemptOpening({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  const { partition } = turn.self;
  const { host, installationId, repository, taskId, branch, base, title, body, draft } = getPullRequest(turn);
  const attempts = context.attempts + 1;
  const input = {
    ...{ host, installationId, repository, taskId: taskId ?? "", branch, base, title, draft },
    ...{ body: readStoredText(turn, partition, body), sinceMs: context.sinceMs },
  };
  turn.start(OPEN_PULL_REQUEST.request(turn.newId("open"), input));
  return { ...context, attempts };
}

/** It is tried again later. */
export function waitToOpen({ turn, untilMs }: InTurn & { readonly untilMs: number }): void {
  turn.wake(OPEN, untilMs);
}

/** The code host takes no more for now, which counts as no attempt: the task is told until when. */
export function waitForLimit(
  { turn, untilMs, why }: InTurn & { readonly untilMs: number; readonly why: string },
  context: PullRequestContext,
): PullRequestContext {
  const waitsUntil = new Date(untilMs).toISOString();
  const isFirst = getPullRequest(turn).waitsUntil === null;
  const row = changePullRequest(turn, context, { waitsUntil });
  turn.wake(OPEN, untilMs);
  const text = `${row.host} takes no more for now (${why}) The pull request of ${row.repository} is opened after ${timeText(untilMs)}.`;
  if (isFirst) noteOnTask(turn, context, text);
  const told = tellRun(turn, context, { url: null, refused: null });
  return { ...told, attempts: context.attempts - 1 };
}

/** It is not opened: nothing more is tried until somebody asks. */
export function failOpening(
  { turn, why }: InTurn & { readonly why: string },
  context: PullRequestContext,
): PullRequestContext {
  const row = changePullRequest(turn, context, { state: "failed", problem: why, waitsUntil: null });
  turn.cancelWake(OPEN);
  noteOnTask(turn, context, `The pull request of ${row.repository} could not be opened: ${why}`);
  return tellRun(turn, context, { url: null, refused: why });
}

/** Nothing more is to be opened: it is there. */
export function endOpening({ turn }: InTurn): void {
  turn.cancelWake(OPEN);
}
