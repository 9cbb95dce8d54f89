import type { Effect } from "../../runtime/actor-type.js";
import { effect } from "../../runtime/effect-type.js";
import type { CodeHost } from "../outbound/code-host.js";
import { codeHostWriteLane } from "../outbound/lanes.js";
import { type CodeHostProblem, hostEffect } from "./code-host-answer.js";
import { toMark, toMarkedText } from "./hosted-text.js";
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

/**
 * Writes the review, of kind `COMMENT`: it neither approves nor asks for changes. One of the same run is found by its mark
 * first, so that it may run again after a crash or a lost answer.
 */
export function reviewEffect(codeHost: CodeHost | null): Effect {
  return hostEffect(REVIEW_EFFECT, codeHostWriteLane, codeHost, writeReview);
}

async function writeReview({ pullRequests }: CodeHost, input: ReviewInput): Promise<ReviewResult> {
  const { taskId, runId, text } = input;
  const mark = toMark({ taskId, purpose: `review-${runId}` });
  const body = toMarkedText(mark, text);
  const known = await pullRequests.findReview(input, input.number, mark);
  return { problem: null, url: known ?? (await pullRequests.addReview(input, input.number, body)) };
}
