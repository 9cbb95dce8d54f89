import type { Turn } from "../../runtime/turns/turn.js";
import { OPEN_DAY, type PullRequestFact, pullRequestFacts } from "../run-facts/pull-request-fact.table.js";
import { toDay } from "../run-facts/stay.table.js";
import type { PullRequestRow } from "./pull-request.js";

/**
 * Records the fact of a pull request for team figures. `before` is the row before the change; null for a new pull
 * request.
 */
export function recordPullRequestFact(turn: Turn, before: PullRequestRow | null, row: PullRequestRow): void {
  const { partition } = turn.self;
  const was = before === null ? null : toFact(before);
  const is = toFact(row);
  const known = was === null ? undefined : pullRequestFacts.get(turn, partition, was.teamId, was.endedDay, was.id);
  if (is === null) return;
  if (known !== undefined && known.endedDay !== is.endedDay) pullRequestFacts.remove(turn, partition, known);
  const replaces = known !== undefined && known.endedDay === is.endedDay ? known : null;
  pullRequestFacts.put(turn, partition, replaces, is);
}

/** Returns the fact of a pull request; null if the pull request is not at the code host. */
function toFact(row: PullRequestRow): PullRequestFact | null {
  const { id, teamId, role, taskId, lineId, repository, number, url, title, draft, state, revertedBy } = row;
  const openedMs = toMs(row.openedAt);
  if (number === null || url === null || openedMs === null) return null;
  const [mergedMs, closedMs] = [toMs(row.mergedAt), toMs(row.closedAt)];
  const endedMs = mergedMs ?? (state === "closed" ? closedMs : null);
  return {
    id,
    teamId,
    role,
    taskId,
    lineId,
    repository,
    number,
    url,
    title,
    draft,
    openedMs,
    endedDay: endedMs === null ? OPEN_DAY : toDay(endedMs),
    author: toAuthor(row),
    state: state === "merged" || state === "closed" ? state : "open",
    firstReviewMs: toMs(row.firstReviewAt),
    rounds: row.reviewedCommits.length,
    mergedMs,
    closedMs,
    isReverted: revertedBy !== null,
  };
}

function toAuthor({ role, author }: PullRequestRow): PullRequestFact["author"] {
  if (role === "own") return "service";
  return author?.isPerson === false ? "bots" : "people";
}

function toMs(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}
