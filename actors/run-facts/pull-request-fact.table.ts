import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";

/** Under what day an open pull request stands, which has none of its own: after all days. */
export const OPEN_DAY = "open";

/**
 * What figures need of a pull request, in one row. It is written with each change of the pull request, outlives it, and
 * refers to nothing that it needs to be read.
 */
export interface PullRequestFact {
  readonly id: string;
  readonly teamId: string;
  /** UTC day on which it was merged or closed, as `YYYY-MM-DD`; {@link OPEN_DAY} while it is open. */
  readonly endedDay: string;
  readonly role: "own" | "review" | "people";
  /** Who wrote it. */
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
  /** Groups of people's reviews that pushes part. */
  readonly rounds: number;
  readonly mergedMs: number | null;
  readonly closedMs: number | null;
  readonly isReverted: boolean;
}

/** `[team, UTC day of the end, pull request]` */
export const pullRequestFacts = indexedTable<PullRequestFact>("pull-request-fact", {
  ...{ under: ["teamId"], order: ["endedDay", "id"] },
});

/** One of a task is kept while it is open. */
export const pullRequestFactRetention = retain(pullRequestFacts, {
  period: "facts",
  lineParts: 1,
  begunAtMs: (fact) => endedMs(fact) ?? fact.openedMs,
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
