import type { HostedPullRequest, HostedReview } from "../outbound/code-host/hosted-pull-request.js";
import { isPeoplesReview, MAX_ROUNDS, type PullRequestRow, withRepository } from "./pull-request.js";

/** The code host's news about a pull request. */
export interface Seen {
  readonly picture: HostedPullRequest | null;
  readonly reviews: readonly HostedReview[];
}

/**
 * Applies news to the row. News may arrive in any order and repeatedly. A merge is final. Otherwise the news with the
 * latest time wins. Reviews are only added, never removed. `isUnclear` is true if the service must read the pull
 * request: the news has no description, or its description has the time of the row but differs from the row.
 */
export function applySeen(
  before: PullRequestRow,
  { picture: hosted, reviews }: Seen,
): { readonly row: PullRequestRow; readonly isUnclear: boolean } {
  const withHosted = hosted === null ? { row: before, isUnclear: true } : applyNews(before, hosted);
  return { ...withHosted, row: addReviews(withHosted.row, reviews) };
}

/** Applies the code host's answer to the row. Unlike news, an answer is current. */
export function applyAnswer(
  before: PullRequestRow,
  seen: Seen & { readonly picture: HostedPullRequest },
): PullRequestRow {
  return addReviews(withHosted(before, seen.picture), seen.reviews);
}

function applyNews(before: PullRequestRow, hosted: HostedPullRequest) {
  const knownMs = before.hostUpdatedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(before.hostUpdatedAt);
  const isNews = hosted.state === "merged" && before.state !== "merged";
  const after = withHosted(before, hosted);
  if (hosted.updatedAtMs > knownMs) return { row: after, isUnclear: false };
  if (hosted.updatedAtMs < knownMs) return { row: isNews ? merged(before, after) : before, isUnclear: false };
  return isNews ? { row: after, isUnclear: false } : { row: before, isUnclear: tellsOther(before, after) };
}

/** Applies a description that is older than the row: copies only the state and the merge data. */
function merged(before: PullRequestRow, { state, mergedAt, mergeCommit, closedAt }: PullRequestRow): PullRequestRow {
  return { ...before, state, mergedAt, mergeCommit, closedAt };
}

/**
 * Applies the description to the row. Keeps the branch of a pull request that the service opened. Keeps the state of a
 * merged pull request and its first merge data.
 */
function withHosted(before: PullRequestRow, hosted: HostedPullRequest): PullRequestRow {
  const isMerged = before.state === "merged";
  const knownMs = before.hostUpdatedAt === null ? 0 : Date.parse(before.hostUpdatedAt);
  return {
    ...withRepository(before, hosted),
    number: hosted.number,
    url: hosted.url,
    title: hosted.title,
    author: hosted.author,
    branch: before.role === "own" ? before.branch : hosted.branch,
    ...(isOfFork(hosted) && { fork: true }),
    base: hosted.base,
    head: hosted.head,
    draft: hosted.draft,
    state: isMerged ? "merged" : hosted.state,
    openedAt: toText(hosted.createdAtMs),
    mergedAt: isMerged ? before.mergedAt : toText(hosted.mergedAtMs),
    mergeCommit: isMerged ? (before.mergeCommit ?? hosted.mergeCommit) : hosted.mergeCommit,
    closedAt: isMerged ? before.closedAt : toText(hosted.closedAtMs),
    hostUpdatedAt: toText(Math.max(knownMs, hosted.updatedAtMs)),
    isDirty: hosted.state === "open" && (hosted.isDirty ?? before.isDirty),
  };
}

function isOfFork({ from, repository }: HostedPullRequest): boolean {
  return from?.toLowerCase() !== repository.toLowerCase();
}

/** Whether two descriptions of the same time differ. Ignores conflicts, because the code host detects them later. */
function tellsOther(before: PullRequestRow, after: PullRequestRow): boolean {
  const members = ["repository", "state", "title", "base", "head", "draft", "closedAt"] as const;
  return members.some((member) => before[member] !== after[member]);
}

function addReviews(before: PullRequestRow, reviews: readonly HostedReview[]): PullRequestRow {
  const counted = reviews.filter((review) => isPeoplesReview(review, before.author));
  if (counted.length === 0) return before;
  const commits = [...new Set([...before.reviewedCommits, ...counted.flatMap(({ commit }) => commit ?? [])])].sort();
  const times = counted.map(({ atMs }) => atMs);
  const first = before.firstReviewAt === null ? times : [Date.parse(before.firstReviewAt), ...times];
  const firstReviewAt = toText(Math.min(...first));
  return { ...before, reviewedCommits: commits.slice(0, MAX_ROUNDS), firstReviewAt };
}

function toText(ms: number): string;
function toText(ms: number | null): string | null;
function toText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
