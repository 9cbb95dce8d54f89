import type { HostedPullRequest, HostedReview } from "../outbound/code-host/hosted-pull-request.js";
import { isPeoplesReview, MAX_ROUNDS, type PullRequestRow, withRepository } from "./pull-request.js";

/** The code host's news about a pull request. */
export interface Seen {
  readonly picture: HostedPullRequest | null;
  readonly reviews: readonly HostedReview[];
}

/**
 * Applies news to the row, in any order and repeatedly. Merged is final; otherwise the newest time counts. News of the
 * same time that differs has no order: `isUnclear` means that the pull request must be read. Reviews are only added.
 */
export function applySeen(
  before: PullRequestRow,
  { picture, reviews }: Seen,
): { readonly row: PullRequestRow; readonly isUnclear: boolean } {
  const pictured = picture === null ? { row: before, isUnclear: true } : applyPicture(before, picture);
  return { ...pictured, row: addReviews(pictured.row, reviews) };
}

/** Applies the code host's answer to the row. Unlike news, an answer is current. */
export function applyAnswer(
  before: PullRequestRow,
  seen: Seen & { readonly picture: HostedPullRequest },
): PullRequestRow {
  return addReviews(pictured(before, seen.picture), seen.reviews);
}

function applyPicture(before: PullRequestRow, picture: HostedPullRequest) {
  const knownMs = before.hostUpdatedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(before.hostUpdatedAt);
  const isNews = picture.state === "merged" && before.state !== "merged";
  const after = pictured(before, picture);
  if (picture.updatedAtMs > knownMs) return { row: after, isUnclear: false };
  if (picture.updatedAtMs < knownMs) return { row: isNews ? merged(before, after) : before, isUnclear: false };
  return isNews ? { row: after, isUnclear: false } : { row: before, isUnclear: tellsOther(before, after) };
}

/** Applies only the merge from an older description. */
function merged(before: PullRequestRow, { state, mergedAt, mergeCommit, closedAt }: PullRequestRow): PullRequestRow {
  return { ...before, state, mergedAt, mergeCommit, closedAt };
}

/** Applies everything in the description. A merged pull request stays merged, with its first merge data. */
function pictured(before: PullRequestRow, picture: HostedPullRequest): PullRequestRow {
  const isMerged = before.state === "merged";
  const knownMs = before.hostUpdatedAt === null ? 0 : Date.parse(before.hostUpdatedAt);
  return {
    ...withRepository(before, picture),
    number: picture.number,
    url: picture.url,
    title: picture.title,
    author: picture.author,
    branch: before.role === "own" ? before.branch : picture.branch,
    ...(isOfFork(picture) && { fork: true }),
    base: picture.base,
    head: picture.head,
    draft: picture.draft,
    state: isMerged ? "merged" : picture.state,
    openedAt: toText(picture.createdAtMs),
    mergedAt: isMerged ? before.mergedAt : toText(picture.mergedAtMs),
    mergeCommit: isMerged ? (before.mergeCommit ?? picture.mergeCommit) : picture.mergeCommit,
    closedAt: isMerged ? before.closedAt : toText(picture.closedAtMs),
    hostUpdatedAt: toText(Math.max(knownMs, picture.updatedAtMs)),
    isDirty: picture.state === "open" && (picture.isDirty ?? before.isDirty),
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
