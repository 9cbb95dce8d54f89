import { isDeepStrictEqual } from "node:util";
import type { Turn } from "../../runtime/turns/turn.js";
import type { HostedReview } from "../outbound/code-host/hosted-pull-request.js";
import { type ReviewFact, type ReviewThread, reviewFacts } from "../run-facts/review-fact.table.js";
import { toDay } from "../run-facts/stay.table.js";
import type { PullRequestRow } from "./pull-request.js";

/**
 * Records the facts of a pull request's reviews and their comments. Reviews may be received in any order, and more than
 * once.
 */
export function recordReviewFacts(turn: Turn, row: PullRequestRow, reviews: readonly HostedReview[]): void {
  const { partition } = turn.self;
  for (const review of reviews) {
    if (review.id === undefined) continue;
    const received = toFact(row, review, review.id);
    const known = reviewFacts.get(turn, partition, received.teamId, received.day, received.id) ?? null;
    const fact = known === null ? received : joined(known, received);
    if (!isDeepStrictEqual(known, fact)) reviewFacts.put(turn, partition, known, fact);
  }
}

function toFact(
  { id: pullRequestId, teamId, repository, author }: PullRequestRow,
  { by, atMs, commit, verdict, thread }: HostedReview,
  number: number,
): ReviewFact {
  const kind = commit === null ? "comment" : "review";
  return {
    teamId,
    day: toDay(atMs),
    id: `${pullRequestId} ${kind} ${number}`,
    pullRequestId,
    repository,
    kind,
    atMs,
    login: by.login,
    by: by.isPerson ? "people" : "bots",
    isAuthor: by.login === author?.login,
    verdict: verdict ?? null,
    thread: thread ?? null,
  };
}

/** Merges two versions of a review. Keeps the first verdict, even if the review was dismissed later. */
function joined(known: ReviewFact, received: ReviewFact): ReviewFact {
  return {
    ...known,
    isAuthor: known.isAuthor || received.isAuthor,
    verdict: known.verdict ?? received.verdict,
    thread: latest(known.thread, received.thread),
  };
}

function latest(known: ReviewThread | null, received: ReviewThread | null): ReviewThread | null {
  if (known === null || received === null) return known ?? received;
  if (known.asOfMs !== received.asOfMs) return known.asOfMs > received.asOfMs ? known : received;
  return known.isResolved ? known : received;
}
