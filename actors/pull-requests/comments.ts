/**
 * Comments on a pull request, one for each purpose, that the service keeps up to date. A changed text waits for {@link
 * DEBOUNCE_MS}, so that several changes need one request. The service writes one comment at a time.
 *
 * If the code host refuses a comment, or {@link MAX_ATTEMPTS} attempts fail, the service gives up the comment until its
 * text changes. The comment's `problem` and a note on the task give the reason.
 */
import type { InTurn } from "../../runtime/cells/chart.js";
import type { Delivered, EffectEnded, Turn } from "../../runtime/turns/turn.js";
import { MAX_ATTEMPTS } from "../outbound/http/retry-wait.js";
import { readStoredText, toStoredText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { toHostAnswer } from "./code-host-answer.js";
import { COMMENT_EFFECT, type CommentResult, toCommentDigest } from "./comment.effects.js";
import type { PullRequestContext, PullRequestRow, StoredComment } from "./pull-request.js";
import type { StoreComment } from "./pull-request.messages.js";
import { changePullRequest, getPullRequest, noteOnTask } from "./pull-request-row.js";
import { findWait } from "./waits.js";

const DEBOUNCE_MS = 10_000;
const COMMENT = "comment";
/** Maximum number of comments on one pull request. */
const MAX_COMMENTS = 20;
/** The text that replaces a withdrawn comment. */
const WITHDRAWN = "_Withdrawn._";

/**
 * Records the wanted text of a comment. If the service gave up the comment before, it tries again. Ignores the
 * withdrawal of an unknown comment, and a new comment beyond {@link MAX_COMMENTS}.
 */
export function storeComment({ turn, purpose, text }: Delivered<StoreComment>, context: PullRequestContext): void {
  const { comments } = getPullRequest(turn);
  const { id, there } = comments[purpose] ?? { id: null, there: null };
  if (comments[purpose] === undefined && (text === "" || Object.keys(comments).length >= MAX_COMMENTS)) return;
  const stored = toStoredText(turn, turn.self.partition, text === "" ? WITHDRAWN : text);
  changePullRequest(turn, context, { comments: { ...comments, [purpose]: { id, there, text: stored } } });
  turn.wake(COMMENT, turn.now + DEBOUNCE_MS);
}

/** Starts the update of the first comment that is out of date. */
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

/**
 * Records the new state of a comment, and continues with the next comment. After a problem, schedules a retry or gives
 * up the comment.
 */
export function takeComment(
  { turn, id, result }: InTurn & Pick<EffectEnded<CommentResult>, "id" | "result">,
  context: PullRequestContext,
): void {
  const purpose = id.slice(COMMENT.length + 1);
  const { comments, url, host } = getPullRequest(turn);
  const storedComment = comments[purpose];
  if (storedComment === undefined) return;
  const keep = (comment: StoredComment) =>
    changePullRequest(turn, context, { comments: { ...comments, [purpose]: comment } });
  const answer = toHostAnswer(result);
  const attempts = (storedComment.attempts ?? 0) + 1;
  if (answer.problem === null) {
    keep({ id: answer.id, there: answer.digest, text: storedComment.text });
    turn.wake(COMMENT, turn.now);
  } else if (answer.problem === "refused" || (answer.problem === "again" && attempts >= MAX_ATTEMPTS)) {
    keep({ ...storedComment, problem: answer.why });
    noteOnTask(turn, context, `The comment on ${url} (${purpose}) could not be written: ${answer.why}`);
    turn.wake(COMMENT, turn.now);
  } else {
    const atMs = findWait(answer, attempts, turn.now);
    turn.wake(COMMENT, atMs);
    if (answer.problem === "again") return void keep({ ...storedComment, attempts });
    if (storedComment.isLimited === true) return;
    keep({ ...storedComment, isLimited: true });
    const text = `The comment on ${url} (${purpose}) is retried after ${timeText(atMs)}.`;
    noteOnTask(turn, context, `${host} limits requests (${answer.why}) ${text}`);
  }
}
