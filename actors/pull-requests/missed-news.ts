/**
 * Finds changes of pull requests that no delivery reported. Covers people's pull requests, and pull requests that were
 * open before the service knew the repository. Every hour the service lists the repository's open pull requests, and
 * reads the pull requests that changed since their last read. An unchanged list does not count against the code host's
 * rate limit. The actors of tasks' pull requests read their state themselves.
 */
import { isDeepStrictEqual } from "node:util";
import type { InTurn } from "../../runtime/cells/chart.js";
import type { Turn } from "../../runtime/turns/turn.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import { forgetHosted } from "../code-host/hosted-repository.js";
import { findHosted, type NamedRepository } from "../code-host/hosted-repository.queries.js";
import type { HostedKey } from "../code-host/hosted-repository.table.js";
import { LOOK_INTERVAL_MS } from "./hosted-status.js";
import { LIST_OPEN, type ListOpenResult } from "./list-open.effects.js";
import { LOOK_AT_PULL_REQUEST } from "./look.effects.js";
import type { PullRequestRow } from "./pull-request.js";
import { listByNumber } from "./pull-request.table.js";
import { isNamedByLine, listNewTo, listOpenIn, listTeams } from "./pull-request-log.transitions.js";

/** The stored state of a pull request log between turns. */
export interface PullRequestLogContext {
  /** The repository's key at the code host (host and repository id); null or absent while unknown. */
  readonly of?: HostedKey | null;
  /** Whether the repository's open pull requests are listed every hour; absent for no. */
  readonly isListed?: boolean;
  /** The ETag of the last list, if it led to no reads of pull requests; otherwise null or absent. */
  readonly etag?: string | null;
  /**
   * The teams that had a line on the repository when the service last requested the list; absent before the first list.
   */
  readonly teams?: readonly string[];
}

/** Returns the log's repository, with its current name at the code host. */
export function toNamed({ of }: PullRequestLogContext, turn: Turn): NamedRepository {
  const { id: repository, partition } = turn.self;
  const named = of ? { ...of, repository } : { repository };
  const known = findHosted(turn, partition, named);
  return known === undefined ? named : { ...named, repository: known.name };
}

/** The wake-up for the next list. */
export const LIST = "list";
/** Maximum number of pull requests to read after one list. The next list finds the others again. */
const MAX_LOOKS = 100;

/** Starts the hourly lists when the first news about the repository arrives, if a team has a line on the repository. */
export function listFromNowOn({ turn }: InTurn, context: PullRequestLogContext): PullRequestLogContext {
  if (context.isListed === true || listTeams(turn, toNamed(context, turn)).length === 0) return context;
  turn.wake(LIST, turn.now + LOOK_INTERVAL_MS);
  return { ...context, isListed: true };
}

/** Starts a list. Ends the hourly lists if no team has a line on the repository, or no installation reaches it. */
export function listNow(turn: Turn, context: PullRequestLogContext): PullRequestLogContext {
  const named = toNamed(context, turn);
  const { repository } = named;
  const connection = findReachingConnection(turn, turn.self.partition, repository);
  const teams = listTeams(turn, named);
  if (context.of && !isNamedByLine(turn, named)) forgetHosted(turn, context.of);
  if (connection === undefined || teams.length === 0) return { isListed: false, etag: null };
  const { host, installationId } = connection;
  // If a team is new to the repository, request the list without the ETag: the team has no rows for the listed pull
  // requests, even if the list has not changed.
  const etag = isDeepStrictEqual(teams, context.teams) ? (context.etag ?? null) : null;
  turn.cancelEffect(LIST);
  turn.start(LIST_OPEN.request(LIST, { host, installationId, repository, etag }));
  turn.wake(LIST, turn.now + LOOK_INTERVAL_MS);
  return { ...context, teams };
}

/** Reads the pull requests that changed without a delivery, according to the new list. */
export function takeList(turn: Turn, context: PullRequestLogContext, answer: ListOpenResult): PullRequestLogContext {
  if (answer.problem !== null || answer.listed === "same") return context;
  const named = toNamed(context, turn);
  const { repository } = named;
  const connection = findReachingConnection(turn, turn.self.partition, repository);
  if (connection === undefined) return context;
  const { host, installationId } = connection;
  const missed = findMissed(turn, named, answer);
  for (const number of missed.slice(0, MAX_LOOKS)) {
    turn.cancelEffect(`look ${number}`);
    const at = { host, installationId, repository, number };
    turn.start(LOOK_AT_PULL_REQUEST.request(`look ${number}`, { ...at, etag: null }));
  }
  // If pull requests had to be read, drop the ETag: the next list then finds those that were not read.
  return { ...context, etag: missed.length === 0 ? answer.etag : null };
}

/**
 * Returns the numbers of the pull requests to read, in this order:
 *
 * 1. New pull requests, and pull requests that changed at the code host.
 * 2. Pull requests that are open in the service's rows but not in the list. They come last, because some of them may
 *    stay unreadable forever and must not delay the others.
 */
function findMissed(
  turn: Turn,
  named: NamedRepository,
  { open, isWhole }: Extract<ListOpenResult, { readonly listed: "changed" }>,
): readonly number[] {
  const { partition } = turn.self;
  const there = new Set(open.map(({ number }) => number));
  const known = listOpenIn(turn, named, ["people", "review"]).flatMap(({ number }) => number ?? []);
  const gone = isWhole ? known.filter((number) => !there.has(number)) : [];
  const changed = open.filter(({ number, updatedAtMs }) => {
    const rows = listByNumber(turn, partition, { ...named, number });
    if (rows.some(({ role }) => role === "own")) return false;
    return listNewTo(turn, named, rows).length > 0 || rows.some((row) => isOlder(row, updatedAtMs));
  });
  return [...new Set([...changed.map(({ number }) => number), ...gone])];
}

/**
 * Whether a listed pull request may have changed since the last read. Also true if the row says `closed`, because the
 * list contains only open pull requests. Does not consider deliveries since the last read, because they may be
 * incomplete.
 */
function isOlder({ lookedUpTo = null, state }: PullRequestRow, updatedAtMs: number): boolean {
  return lookedUpTo === null || Date.parse(lookedUpTo) < updatedAtMs || state === "closed";
}
