import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";

/** The day in the key of an open pull request. It sorts after all days. */
export const OPEN_DAY = "open";

/**
 * The data of a pull request, in one row, for figures. Each change of the pull request updates the row. The row
 * outlives the pull request. Readers of the row need no other row.
 */
export interface PullRequestFact {
  readonly id: string;
  readonly teamId: string;
  /** UTC day on which the pull request was merged or closed, as `YYYY-MM-DD`; {@link OPEN_DAY} while it is open. */
  readonly endedDay: string;
  readonly role: "own" | "review" | "people";
  /** The author of the pull request. */
  readonly author: "service" | "people" | "bots";
  readonly taskId: string | null;
  readonly lineId: string | null;
  readonly repository: string;
  readonly number: number;
  readonly url: string;
  readonly title: string;
  readonly state: "open" | "closed" | "merged";
  readonly draft: boolean;
  /** Times are the code host's, in milliseconds since 1970. */
  readonly openedMs: number;
  readonly firstReviewMs: number | null;
  /** Number of review rounds. A round is all reviews by people between two pushes. */
  readonly rounds: number;
  readonly mergedMs: number | null;
  readonly closedMs: number | null;
  readonly isReverted: boolean;
}

/** Key: `[team, UTC day of the end, pull request]` */
export const pullRequestFacts = indexedTable<PullRequestFact>("pull-request-fact", {
  under: ["teamId"],
  order: ["endedDay", "id"],
});

/** The retention of pull request facts. The fact of a task's own pull request stays while the pull request is open. */
export const pullRequestFactRetention = retain(pullRequestFacts, {
  period: "facts",
  lineParts: 1,
  startedAtMs: (fact) => endedMs(fact) ?? fact.openedMs,
  endedAtMs: endedMs,
  remove: (turn, fact) => {
    pullRequestFacts.remove(turn, turn.self.partition, fact);
    return true;
  },
});

function endedMs({ endedDay, role, mergedMs, closedMs, openedMs }: PullRequestFact): number | null {
  if (endedDay === OPEN_DAY && role === "own") return null;
  return mergedMs ?? closedMs ?? openedMs;
}
