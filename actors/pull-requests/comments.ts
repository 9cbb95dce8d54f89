/**
 * Comments that the service keeps up to date: one for each purpose. A change waits for {@link DEBOUNCE_MS}, so that
 * several make one; one comment is written at a time.
 */
import type { Delivered, Turn } from "../../runtime/turn.js";
import { readStoredText, toStoredText } from "../tables/text-blobs.js";
import { COMMENT_EFFECT, toCommentDigest } from "./comment.effects.js";
import type { KeptComment, PullRequestRow } from "./pull-request.js";
import type { KeepComment } from "./pull-request.messages.js";
import type { CommentEnded, PullRequestContext } from "./pull-request-events.js";
import { changePullRequest, getPullRequest, noteOnTask } from "./pull-request-row.js";
import { findWait } from "./waits.js";

const DEBOUNCE_MS = 10_000;
const COMMENT = "comment";
/** Most comments of one pull request. */
const MAX_COMMENTS = 20;
/** What stands in a comment that is withdrawn. */
const WITHDRAWN = "_Withdrawn._";

/** Notes what a comment should be. */
export function keepComment(context: PullRequestContext, { turn, purpose, text }: Delivered<KeepComment>): void {
  const { comments } = getPullRequest(turn);
  const known = comments[purpose] ?? { id: null, there: null, text: "" };
  if (comments[purpose] === undefined && (text === "" || Object.keys(comments).length >= MAX_COMMENTS)) return;
  const kept: KeptComment = { ...known, text: toStoredText(turn, turn.self.partition, text === "" ? WITHDRAWN : text) };
  changePullRequest(turn, context, { comments: { ...comments, [purpose]: kept } });
  turn.wake(COMMENT, turn.now + DEBOUNCE_MS);
}

/** Brings the first comment that is not as it should be up to date. */
export function writeComments(turn: Turn): void {
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
  for (const [purpose, { id, there, text: stored }] of Object.entries(comments)) {
    const text = readStoredText(turn, turn.self.partition, stored);
    if (there !== toCommentDigest(text)) return { purpose, id, text };
  }
  return null;
}

/** Notes what is there, and goes on with the next comment, or tries again. One that is refused is given up. */
export function takeComment(context: PullRequestContext, { turn, id, result }: Delivered<CommentEnded>): void {
  const purpose = id.slice(COMMENT.length + 1);
  const { comments, url } = getPullRequest(turn);
  const kept = comments[purpose];
  if (kept === undefined) return;
  const answer = result.ok ? result.output : ({ problem: "again", why: "" } as const);
  if (answer.problem === null) {
    const { id: number, digest: there } = answer;
    changePullRequest(turn, context, { comments: { ...comments, [purpose]: { ...kept, id: number, there } } });
    turn.wake(COMMENT, turn.now);
  } else if (answer.problem === "refused") {
    const { [purpose]: _given, ...others } = comments;
    changePullRequest(turn, context, { comments: others });
    noteOnTask(turn, context, `The comment on ${url} (${purpose}) could not be written: ${answer.why}`);
  } else turn.wake(COMMENT, findWait(answer, COMMENT_ATTEMPT, turn.now));
}

/** Comments are tried again every 32 seconds. */
const COMMENT_ATTEMPT = 5;
