import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";

/**
 * A review of a pull request, or a review comment, by people or bots, as the code host reported it. The row outlives
 * the pull request. Readers of the row need no other row.
 */
export interface ReviewFact {
  readonly teamId: string;
  /** UTC day on which the review was submitted or the comment was written, as `YYYY-MM-DD`. */
  readonly day: string;
  /** `<pull request> <kind> <number>`: the number of the review or comment at the code host. */
  readonly id: string;
  readonly pullRequestId: string;
  /** `owner/name` */
  readonly repository: string;
  readonly kind: "review" | "comment";
  readonly login: string;
  readonly by: "people" | "bots";
  /** Whether the author also wrote the pull request. */
  readonly isAuthor: boolean;
  /** The code host's time, in milliseconds since 1970. */
  readonly atMs: number;
  /** The review's decision at its submission; null if the review made none, and for a comment. */
  readonly verdict: "approved" | "changes-requested" | null;
  /** The thread that a comment started; null for a reply in a thread, and for a review. */
  readonly thread: ReviewThread | null;
}

/** The state of a comment thread. */
export interface ReviewThread {
  readonly isResolved: boolean;
  /** When the thread had this state, by the code host's clock, in milliseconds since 1970. */
  readonly asOfMs: number;
}

/** Key: `[team, UTC day, id]` */
export const reviewFacts = indexedTable<ReviewFact>("review-fact", {
  under: ["teamId"],
  order: ["day", "id"],
});

export const reviewFactRetention = retain(reviewFacts, {
  period: "facts",
  lineParts: 1,
  startedAtMs: ({ atMs }) => atMs,
  endedAtMs: ({ atMs }) => atMs,
  remove: (turn, fact) => {
    reviewFacts.remove(turn, turn.self.partition, fact);
    return true;
  },
});
