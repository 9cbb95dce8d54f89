import type { Effect } from "../../runtime/actor-type.js";
import { effect } from "../../runtime/effect-type.js";
import type { CodeHost } from "../outbound/code-host.js";
import { codeHostWriteLane } from "../outbound/lanes.js";
import { askHost, type CodeHostProblem } from "./code-host-answer.js";
import { toMark } from "./comment.effects.js";
import type { PullRequestThere } from "./look.effects.js";

/** What a run of a task found in a pull request. */
export interface ReviewInput extends PullRequestThere {
  readonly taskId: string;
  readonly runId: string;
  readonly text: string;
}

export type ReviewResult = { readonly problem: null; readonly url: string } | CodeHostProblem;

/** Writes the review of a run. */
export const REVIEW_EFFECT = effect<ReviewInput, ReviewResult>("pull-request-review");

/** Longest review that GitHub takes, in characters. */
const MAX_CHARACTERS = 65_536;

/**
 * The text of a review with its mark. What the agent wrote opens no comment of HTML, which people would not see and which
 * another text could be found by, and holds no control characters.
 */
export function toReviewText({ taskId, runId, text }: Pick<ReviewInput, "taskId" | "runId" | "text">): string {
  const mark = toMark({ taskId, purpose: `review-${runId}` });
  const shown = text.replace(/[^\P{Cc}\t\n]|\p{Cs}/gu, "").replaceAll("<!--", "&lt;!--");
  return `${mark}\n${shown}`.slice(0, MAX_CHARACTERS).replace(/[\ud800-\udbff]$/, "");
}

/**
 * Writes the review, of kind `COMMENT`: it neither approves nor asks for changes. One of the same run is found by its mark
 * first, so that it may run again after a crash or a lost answer.
 */
export function reviewEffect(codeHost: CodeHost | null): Effect {
  return REVIEW_EFFECT.implement(
    codeHostWriteLane,
    (input) => askHost(codeHost, input.host, (host) => writeReview(host, input)),
    ({ host, installationId }) => `${host} ${installationId}`,
  );
}

async function writeReview({ pullRequests }: CodeHost, input: ReviewInput): Promise<ReviewResult> {
  const body = toReviewText(input);
  const [mark = ""] = body.split("\n", 1);
  const known = await pullRequests.findReview(input, input.number, mark);
  return { problem: null, url: known ?? (await pullRequests.addReview(input, input.number, body)) };
}
