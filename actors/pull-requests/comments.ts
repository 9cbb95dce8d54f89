/**
 * Comments that the service keeps up to date: one for each purpose. A change waits for {@link DEBOUNCE_MS}, so that
 * several make one; one comment is written at a time. One that the code host refuses, or does not take in
 * {@link MAX_ATTEMPTS} attempts, is given up until its text changes: it says why, and so does a line on the task.
 */
import type { InTurn } from "../../runtime/chart.js";
import type { Delivered, EffectEnded, Turn } from "../../runtime/turn.js";
import { readStoredText, toStoredText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { toHostAnswer } from "./code-host-answer.js";
import { COMMENT_EFFECT, type CommentResult, toCommentDigest } from "./comment.effects.js";
import type { KeptComment, PullRequestContext, PullRequestRow } from "./pull-request.js";
import type { KeepComment } from "./pull-request.messages.js";
import { changePullRequest, getPullRequest, noteOnTask } from "./pull-request-row.js";
import { findWait, MAX_ATTEMPTS } from "./waits.js";

const DEBOUNCE_MS = 10_000;
const COMMENT = "comment";
/** Most comments of one pull request. */
const MAX_COMMENTS = 20;
/** What stands in a comment that is withdrawn. */
const WITHDRAWN = "_Withdrawn._";

/** Notes what a comment should be; one that was given up is tried again. */
export function keepComment({ turn, purpose, text }: Delivered<KeepComment>, context: PullRequestContext): void {
  const { comments } = getPullRequest(turn);
  const { id, there } = comments[purpose] ?? { id: null, there: null };
  if (comments[purpose] === undefined && (text === "" || Object.keys(comments).length >= MAX_COMMENTS)) return;
  const stored = toStoredText(turn, turn.self.partition, text === "" ? WITHDRAWN : text);
  changePullRequest(turn, context, { comments: { ...comments, [purpose]: { id, there, text: stored } } });
  turn.wake(COMMENT, turn.now + DEBOUNCE_MS);
}

/** Brings the first comment that is not as it should be up to date. */
export function writeComments({ turn }: InTurn): void {
  const row = getPullRequest(turn);
  const stale = findStale(turn, row);
  if (stale === null || row.number === null) return;
  const { host, installationId, repository, number, taskId } = row;
  const { purpose, id, text } = stale;
  const input = { host, installationId, repository, number, taskId: taskId ?? "", purpose, id, text };
  turn.cancelEffect(`${COMMENT} ${purpose}`);
  turn.start(COMMENT_EFFECT.request(`${COMMENT} ${purpose}`, input));
}

function findStale(turn: Turn, { comments }: PullRequestRow) {
  for (const [purpose, { id, there, text: stored, problem }] of Object.entries(comments)) {
    if (problem !== undefined) continue;
    const text = readStoredText(turn, turn.self.partition, stored);
    if (there !== toCommentDigest(text)) return { purpose, id, text };
  }
  return null;
}

/** Notes what is there, and goes on with the next comment; or tries again, or gives this one up. */
export function takeComment(
  { turn, id, result }: InTurn & Pick<EffectEnded<CommentResult>, "id" | "result">,
  context: PullRequestContext,
): void {
  const purpose = id.slice(COMMENT.length + 1);
  const { comments, url, host } = getPullRequest(turn);
  const kept = comments[purpose];
  if (kept === undefined) return;
  const keep = (comment: KeptComment) =>
    changePullRequest(turn, context, { comments: { ...comments, [purpose]: comment } });
  const answer = toHostAnswer(result);
  const attempts = (kept.attempts ?? 0) + 1;
  if (answer.problem === null) {
    keep({ id: answer.id, there: answer.digest, text: kept.text });
    turn.wake(COMMENT, turn.now);
  } else if (answer.problem === "refused" || (answer.problem === "again" && attempts >= MAX_ATTEMPTS)) {
    keep({ ...kept, problem: answer.why });
    noteOnTask(turn, context, `The comment on ${url} (${purpose}) could not be written: ${answer.why}`);
    turn.wake(COMMENT, turn.now);
  } else {
    const atMs = findWait(answer, attempts, turn.now);
    turn.wake(COMMENT, atMs);
    if (answer.problem === "again") return void keep({ ...kept, attempts });
    if (kept.isLimited === true) return;
    keep({ ...kept, isLimited: true });
    const text = `The comment on ${url} (${purpose}) is written after ${timeText(atMs)}.`;
    noteOnTask(turn, context, `${host} takes no more for now (${answer.why}) ${text}`);
  }
}
