import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";

/**
 * A review of a pull request, or a comment in one, of people and of bots, as the code host told of it. It outlives the
 * pull request, and refers to nothing that it needs to be read.
 */
export interface ReviewFact {
  readonly teamId: string;
  /** UTC day on which it was submitted or written, as `YYYY-MM-DD`. */
  readonly day: string;
  /** `<pull request> <kind> <its number there>` */
  readonly id: string;
  readonly pullRequestId: string;
  /** `owner/name` */
  readonly repository: string;
  readonly kind: "review" | "comment";
  /** Who wrote it. */
  readonly login: string;
  readonly by: "people" | "bots";
  /** Whether they wrote the pull request too. */
  readonly isAuthor: boolean;
  /** The code host's time, in milliseconds since 1970. */
  readonly atMs: number;
  /** What a review decided, when it was submitted; null for nothing, and for a comment. */
  readonly verdict: "approved" | "changes-requested" | null;
  /** The thread that a comment began; null for an answer in one, and for a review. */
  readonly thread: ReviewThread | null;
}

/** What became of a thread of comments. */
export interface ReviewThread {
  readonly isResolved: boolean;
  /** The code host's time of that, in milliseconds since 1970. */
  readonly asOfMs: number;
}

/** `[team, UTC day, id]` */
export const reviewFacts = indexedTable<ReviewFact>("review-fact", {
  ...{ under: ["teamId"], order: ["day", "id"] },
});

export const reviewFactRetention = retain(reviewFacts, {
  period: "facts",
  lineParts: 1,
  begunAtMs: ({ atMs }) => atMs,
  endedAtMs: ({ atMs }) => atMs,
  remove: (turn, fact) => {
    reviewFacts.remove(turn, turn.self.partition, fact);
    return true;
  },
});
