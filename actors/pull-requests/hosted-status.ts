/**
 * Handles a pull request that is at the code host: reads its state regularly, and records that it was merged, closed or
 * reverted.
 */
import type { InTurn } from "../../runtime/cells/chart.js";
import type { Fact, Turn } from "../../runtime/turns/turn.js";
import type { WorkFact } from "../events/catalogue.js";
import { type EventSubject, recordWorkEvent } from "../events/event-task.js";
import type { HostedReview } from "../outbound/code-host/hosted-pull-request.js";
import { storeText } from "../tables/text-blobs.js";
import { LOOK_AT_PULL_REQUEST, type PullRequestThere, READ_FILES } from "./look.effects.js";
import { withPendingRevert } from "./pending-revert.table.js";
import type { PullRequestContext, PullRequestRow } from "./pull-request.js";
import { readPaths } from "./pull-request.view.js";
import { findPullRequestLog, toNameNews } from "./pull-request-log.messages.js";
import { changePullRequest, changeTaskBranch, getPullRequest, noteOnTask } from "./pull-request-row.js";
import { recordReviewFacts } from "./review-facts.js";
import { notifyRun } from "./vetting.js";

/** Interval between reads of an open pull request, in milliseconds. */
export const LOOK_INTERVAL_MS = 60 * 60 * 1_000;
const LOOK = "look";
const FILES = "files";

/** A task's pull request was merged, or closed without a merge. */
export interface PullRequestOver extends Fact {
  readonly name: "pull-request.over";
  readonly taskId: string;
  readonly state: "merged" | "closed";
  readonly repository: string;
  readonly url: string;
  readonly atMs: number;
}

/** Returns the pull request's location at the code host. */
function toPlace({ host, installationId, repository, number }: PullRequestRow): PullRequestThere {
  if (number === null) throw new Error("a pull request that is not at the code host");
  return { host, installationId, repository, number };
}

/** The new row after an answer or news. */
interface SeenRow extends InTurn {
  readonly row: PullRequestRow;
  /** The reviews that the answer or news contains. */
  readonly reviews: readonly HostedReview[];
  /** Whether the pull request must be read. */
  readonly asks: boolean;
  /** The ETag of the answer; undefined for news. */
  readonly etag?: string | null;
}

/** Stores the new row. If `asks` is set, also reads the pull request from the code host. */
export function takeSeen({ turn, row, reviews, asks, etag }: SeenRow, context: PullRequestContext): PullRequestContext {
  const before = getPullRequest(turn);
  const isThere = row.number !== null;
  const found = withPendingRevert(turn, before, row);
  const after = changePullRequest(turn, context, { ...found, ...(isThere && { problem: null, waitsUntil: null }) });
  reportName(turn, before, after);
  recordReviewFacts(turn, after, reviews);
  if (before.number === null && after.number !== null) noteOnTask(turn, context, `Pull request opened: ${after.url}`);
  if (after.isDirty !== before.isDirty) takeDirty(turn, context, after);
  const seen = etag === undefined ? context : { ...context, etag, unanswered: 0 };
  return asks && after.number !== null ? look({ turn }, seen) : seen;
}

/** If the code host shows a new repository name, sends the name to the repository's log. */
function reportName(turn: Turn, { repository: askedAs }: PullRequestRow, shown: PullRequestRow): void {
  const { partition } = turn.self;
  const found = toNameNews(turn, partition, { ...shown, askedAs });
  if (found !== null) turn.send(findPullRequestLog(turn, partition, { ...shown, repository: askedAs }), found);
}

function takeDirty(turn: Turn, context: PullRequestContext, row: PullRequestRow): void {
  changeTaskBranch(turn, row, { isDirty: row.isDirty });
  const text = `The pull request ${row.url} conflicts with its base: the next run of the task merges the base in.`;
  if (row.isDirty) noteOnTask(turn, context, text);
}

/** Schedules the hourly reads of an open pull request, and notifies the waiting run. */
export function stayOpen({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  const { url, id, repository: _repository, ...row } = getPullRequest(turn);
  changeTaskBranch(turn, getPullRequest(turn), { pullRequestId: id, ...(row.head !== null && { head: row.head }) });
  turn.wake(LOOK, turn.now + LOOK_INTERVAL_MS);
  return notifyRun(turn, context, { url, refused: null });
}

/** Starts a read of the pull request. The actor then ignores the results of earlier reads. */
export function look({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  const number = context.look + 1;
  turn.cancelEffect(`look ${context.look}`);
  const { etag } = context;
  turn.start(LOOK_AT_PULL_REQUEST.request(`look ${number}`, { ...toPlace(getPullRequest(turn)), etag }));
  turn.wake(LOOK, turn.now + LOOK_INTERVAL_MS);
  return { ...context, look: number };
}

/** Reads the pull request without the ETag, because a person requested the read. */
export function lookAnew({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  return look({ turn }, { ...context, etag: null });
}

/**
 * Schedules the next read in an hour. If the last read had no answer and `untilMs` is earlier, schedules the next read
 * at `untilMs`.
 */
export function lookLater(
  { turn, untilMs }: InTurn & { readonly untilMs: number | null },
  context: PullRequestContext,
): PullRequestContext {
  turn.wake(LOOK, Math.min(untilMs ?? Number.POSITIVE_INFINITY, turn.now + LOOK_INTERVAL_MS));
  return { ...context, unanswered: untilMs === null ? 0 : (context.unanswered ?? 0) + 1 };
}

/**
 * Records that the code host no longer shows the pull request: it was deleted, or the installation does not reach it.
 */
export function takeGone({ turn }: InTurn, context: PullRequestContext): void {
  const { problem, host, url } = getPullRequest(turn);
  const why = `${host} no longer gives this service access to it.`;
  if (problem === why) return;
  changePullRequest(turn, context, { problem: why });
  noteOnTask(turn, context, `The pull request ${url}: ${why}`);
}

/** Ends the pull request, and notifies a waiting run. Later runs of the task start another pull request. */
export function end({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  endPushing({ turn }, context);
  return notifyRun(turn, context, { url: null, refused: toOver(getPullRequest(turn)) });
}

function toOver({ url, state }: PullRequestRow): string {
  return `The pull request ${url} is now ${state}.`;
}

/** Ends the pull request during a push. The run waits for the result of the push. */
export function endPushing({ turn }: InTurn, context: PullRequestContext): void {
  const row = getPullRequest(turn);
  const { taskId, state, repository, url, mergedAt, closedAt } = row;
  turn.cancelWake(LOOK);
  const isMerged = state === "merged";
  changeTaskBranch(turn, row, { pullRequestId: null, isDirty: false, ...(isMerged && { head: null }) });
  noteOnTask(turn, context, isMerged ? `Pull request merged: ${url}` : `Pull request closed without a merge: ${url}`);
  if (isMerged) noteReverted(turn, context, row);
  if (taskId !== null) {
    const at = isMerged ? mergedAt : closedAt;
    const atMs = at === null ? turn.now : Date.parse(at);
    const over: PullRequestOver = {
      name: "pull-request.over",
      taskId,
      state: isMerged ? "merged" : "closed",
      repository,
      url: url ?? "",
      atMs,
    };
    turn.publish(over);
  }
}

/**
 * Handles the end of a push to a closed or merged pull request.
 *
 * - If a commit was pushed too late for the merge, it stays on the branch without a pull request. A note on the task
 *   says so.
 * - If the pull request was closed, the task continues to use its branch.
 */
export function takePushedOver(
  { turn, head }: InTurn & { readonly head: string | null },
  context: PullRequestContext,
): PullRequestContext {
  const row = getPullRequest(turn);
  const { url, state, branch } = row;
  if (state === "merged" && head !== null && head === row.head) return notifyRun(turn, context, { url, refused: null });
  if (state === "closed" && head !== null) changeTaskBranch(turn, row, { head });
  if (state === "merged" && head !== null) {
    noteOnTask(
      turn,
      context,
      `The commit ${head} was pushed to ${branch} after ${url} was merged, so the merge does not contain it.`,
    );
  }
  return notifyRun(turn, context, { url: null, refused: toOver(row) });
}

/** Reads the changed paths of the merged pull request, for hooks. */
export function readFiles({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  turn.start(READ_FILES.request(turn.newId("files"), toPlace(getPullRequest(turn))));
  return { ...context, reads: context.reads + 1 };
}

export function readFilesLater({ turn, untilMs }: InTurn & { readonly untilMs: number }): void {
  turn.wake(FILES, untilMs);
}

/**
 * Records the changed paths and publishes the merge to hooks. If the code host returned no paths, uses the paths that
 * hooks allowed.
 */
export function takeFiles(
  { turn, files, subject }: InTurn & { readonly files: readonly string[]; readonly subject: EventSubject | null },
  context: PullRequestContext,
): void {
  const { partition } = turn.self;
  const before = getPullRequest(turn);
  const paths = files.length > 0 ? files : readPaths(turn, partition, before.vetted);
  const row = changePullRequest(turn, context, { changed: storeText(turn, partition, JSON.stringify(paths)) });
  if (subject === null) return;
  const on = "pull-request.merged";
  const { url, repository, mergeCommit } = row;
  const event = {
    at: new Date(turn.now).toISOString(),
    url,
    repository,
    mergeCommit: mergeCommit ?? "",
    changed: paths,
  };
  const of = { on, occurrence: turn.newId("occ"), run: null, event } as const;
  const fact: WorkFact = { name: on, work: recordWorkEvent(turn, partition, subject, of) };
  turn.publish(fact);
}

/** Records the merged pull request that reverts this one. */
export function takeReverted(
  { turn, by }: InTurn & { readonly by: string },
  context: PullRequestContext,
): PullRequestContext {
  const row = changePullRequest(turn, context, { revertedBy: by });
  if (row.state === "merged") noteReverted(turn, context, row);
  // The service does not know the merge yet, so read the pull request.
  else if (row.number !== null) return look({ turn }, context);
  return context;
}

function noteReverted(turn: Turn, context: PullRequestContext, { url, revertedBy }: PullRequestRow): void {
  if (revertedBy !== null) noteOnTask(turn, context, `The pull request ${url} was reverted by ${revertedBy}.`);
}
