/**
 * What deliveries have not told of pull requests of people, and of those that were open before the service knew of the
 * repository: every hour the open ones are listed, and those of which the list says something else are looked at. A list
 * that is as it was costs nothing at the code host. Those of tasks look for themselves.
 */
import { isDeepStrictEqual } from "node:util";
import type { InTurn } from "../../runtime/chart.js";
import type { Turn } from "../../runtime/turn.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import { forgetHosted } from "../code-host/hosted-repository.js";
import { findHosted, type NamedRepository } from "../code-host/hosted-repository.queries.js";
import type { HostedKey } from "../code-host/hosted-repository.table.js";
import { LIST_OPEN, type ListOpenResult } from "./list-open.effects.js";
import { LOOK_AT_PULL_REQUEST } from "./look.effects.js";
import type { PullRequestRow } from "./pull-request.js";
import { listByNumber } from "./pull-request.table.js";
import { isNamedByLine, listNewTo, listOpenIn, listTeams } from "./pull-request-log.transitions.js";
import { LOOK_INTERVAL_MS } from "./standing.js";

/** The stored state of a log between turns. */
export interface PullRequestLogContext {
  /** The repository by its number; null or absent while that is not known. */
  readonly of?: HostedKey | null;
  /** Whether open ones are listed every hour; absent for no. */
  readonly isListed?: boolean;
  /** The tag of the last list, where it told nothing new; null or absent for none. */
  readonly etag?: string | null;
  /** The teams that the last list was made for; absent for none. */
  readonly teams?: readonly string[];
}

/** The log's repository, by what the code host calls it now. */
export function toNamed({ of }: PullRequestLogContext, turn: Turn): NamedRepository {
  const { id: repository, partition } = turn.self;
  const named = of ? { ...of, repository } : { repository };
  const known = findHosted(turn, partition, named);
  return known === undefined ? named : { ...named, repository: known.name };
}

/** The wake-up for a list. */
export const LIST = "list";
/** Most pull requests that are looked at after one list; the others after the next. */
const MAX_LOOKS = 100;

/** Something is told of the repository: from now on open ones are listed, where a team has a line on it. */
export function listFromNowOn({ turn }: InTurn, context: PullRequestLogContext): PullRequestLogContext {
  if (context.isListed === true || listTeams(turn, toNamed(context, turn)).length === 0) return context;
  turn.wake(LIST, turn.now + LOOK_INTERVAL_MS);
  return { ...context, isListed: true };
}

/** Lists them; no more where no team has a line on the repository, or no installation reaches it. */
export function listNow(turn: Turn, context: PullRequestLogContext): PullRequestLogContext {
  const named = toNamed(context, turn);
  const { repository } = named;
  const connection = findReachingConnection(turn, turn.self.partition, repository);
  const teams = listTeams(turn, named);
  if (context.of && !isNamedByLine(turn, named)) forgetHosted(turn, context.of);
  if (connection === undefined || teams.length === 0) return { isListed: false, etag: null };
  const { host, installationId } = connection;
  // A team that is new to the repository knows none of what is listed.
  const etag = isDeepStrictEqual(teams, context.teams) ? (context.etag ?? null) : null;
  turn.cancelEffect(LIST);
  turn.start(LIST_OPEN.request(LIST, { host, installationId, repository, etag }));
  turn.wake(LIST, turn.now + LOOK_INTERVAL_MS);
  return { ...context, teams };
}

/** Looks at those of which the list says something else. */
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
  // What a look does not answer is found again by the next list.
  return { ...context, etag: missed.length === 0 ? answer.etag : null };
}

/**
 * The numbers of those that the code host knows newer, or are new, and then of those that are open here and not there. What
 * it does not show any more stays among the latter, however often it is looked at, and keeps none of the others from it.
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

/** Whether it changed since it was looked at: a delivery that came since may have been the last of several. */
function isOlder({ lookedUpTo = null, state }: PullRequestRow, updatedAtMs: number): boolean {
  return lookedUpTo === null || Date.parse(lookedUpTo) < updatedAtMs || state === "closed";
}
