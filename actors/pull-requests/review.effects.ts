import type { Effect } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import { codeHostWriteLane } from "../outbound/http/lanes.js";
import { type CodeHostProblem, hostEffect } from "./code-host-answer.js";
import { toMark, toMarkedText } from "./hosted-text.js";
import type { PullRequestThere } from "./look.effects.js";

/** The review that a task's run wrote. */
export interface ReviewInput extends PullRequestThere {
  readonly taskId: string;
  readonly runId: string;
  readonly text: string;
}

export type ReviewResult = { readonly problem: null; readonly url: string } | CodeHostProblem;

/** Posts a run's review to its pull request. */
export const REVIEW_EFFECT = effect<ReviewInput, ReviewResult>("pull-request-review");

/**
 * Creates the effect that posts a review as a `COMMENT`, which neither approves nor requests changes. The effect first
 * searches for the run's review by its mark, so it is safe to repeat after a crash or a lost answer.
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
