import type { Turn } from "../../runtime/turns/turn.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import type { HostedNews } from "../code-host/hosted-news.js";
import { storeHosted } from "../code-host/hosted-repository.js";
import {
  listNames,
  listRepositoryKeys,
  type NamedRepository,
  toRepositoryKey,
} from "../code-host/hosted-repository.queries.js";
import type { HostedKey } from "../code-host/hosted-repository.table.js";
import type { LineFields } from "../lines/line.js";
import type { HostedPullRequest } from "../outbound/code-host/hosted-pull-request.js";
import { listResources } from "../resources/resource.table.js";
import { applyAnswer, applySeen, type Seen } from "./apply-news.js";
import { LOOK_AT_PULL_REQUEST, type LookResult } from "./look.effects.js";
import { storePendingRevert, withPendingRevert } from "./pending-revert.table.js";
import { type PullRequestRole, type PullRequestRow, withRepository } from "./pull-request.js";
import { pullRequestRef } from "./pull-request.messages.js";
import { listByBranch, listByMerge, listByNumber, pullRequestEntry, pullRequests } from "./pull-request.table.js";
import { recordPullRequestFact } from "./pull-request-fact.js";
import { recordReviewFacts } from "./review-facts.js";

/** The news, and the host that sent it. */
interface ReportedNews {
  readonly host: string;
  readonly news: HostedNews;
}

/**
 * Passes news on to a task's pull request, or records it. Returns whether the service now knows the pull request that
 * the news is about. For news about a renamed repository, returns whether a team has a line on the repository.
 */
export function recordNews(turn: Turn, { host, news }: ReportedNews): boolean {
  const { about, repository, installationId } = news;
  const named = { host, repository, repositoryId: toRepositoryId(news) };
  if (about === "reach") return notifyAll(turn, listOpenIn(turn, named, ["own"]));
  if ("formerName" in about) return listTeams(turn, named).length > 0;
  if ("branch" in about) {
    const of = { ...named, branch: about.branch };
    return notifyAll(
      turn,
      listByBranch(turn, turn.self.partition, of).filter(({ state }) => state === "open"),
    );
  }
  const { picture, reviews, number } = about;
  if (picture !== null) recordReverts(turn, host, picture);
  const rows = listByNumber(turn, turn.self.partition, { ...named, number });
  const own = rows.find(({ role }) => role === "own") ?? findUnopened(turn, host, picture);
  if (own !== undefined) {
    turn.send(pullRequestRef(turn.self.partition, own.id), { type: "pull-request.seen", picture, reviews });
    return true;
  }
  const at = { ...named, installationId, number };
  return recordPeoples(turn, { rows, at, seen: { picture, reviews } });
}

/**
 * Stores the repository's current name. Does nothing and returns null if the news has no repository number, or if no
 * line names the repository by its current or a former name. Otherwise returns the repository's key.
 *
 * After a rename, also updates the name in the rows of people's open pull requests, and asks the open pull requests of
 * tasks to read their state.
 */
export function recordName(turn: Turn, { host, news }: ReportedNews): HostedKey | null {
  const { repository: name, installationId, namedAtMs = null, about } = news;
  const repositoryId = toRepositoryId(news);
  if (repositoryId === undefined) return null;
  const formerNames = typeof about === "object" && "formerName" in about ? [about.formerName] : [];
  const isNamed = [name, ...formerNames].some(
    (repository) => isNamedByLine(turn, { host, repository, repositoryId }) || isNamedByLine(turn, { repository }),
  );
  if (!isNamed) return null;
  const key = { host, repositoryId };
  const isRenamed = storeHosted(turn, { ...key, name, formerNames, installationId, asOfMs: namedAtMs });
  if (isRenamed || formerNames.length > 0) renameOpen(turn, { ...key, repository: name });
  return key;
}

/** Returns the repository's number if the delivery includes it. */
function toRepositoryId({ repositoryId, about }: HostedNews): number | undefined {
  const picture = typeof about === "object" && "picture" in about ? about.picture : null;
  return repositoryId ?? picture?.repositoryId;
}

function renameOpen(turn: Turn, named: HostedKey & { readonly repository: string }): void {
  for (const before of listOpenIn(turn, named, ["people", "review"])) {
    const row = withRepository(before, named);
    if (row.repository !== before.repository) storePeoples(turn, before, row);
  }
  const own = listOpenIn(turn, named, ["own"]);
  notifyAll(
    turn,
    own.filter(({ repository }) => repository.toLowerCase() !== named.repository.toLowerCase()),
  );
}

/**
 * Finds a task's pull request that a code host event may be about. The pull request's branch is the event's head
 * branch, and it has no number yet (`opening` or `failed`). Returns undefined if there is none, if `picture` is null,
 * or if the head branch is in another repository.
 */
function findUnopened(turn: Turn, host: string, picture: HostedPullRequest | null): PullRequestRow | undefined {
  if (picture === null || picture.from?.toLowerCase() !== picture.repository.toLowerCase()) return undefined;
  const found = listByBranch(turn, turn.self.partition, { ...picture, host });
  return found.findLast(({ number, state }) => number === null && (state === "opening" || state === "failed"));
}

/** Lists the repository's open pull requests with one of these roles. */
export function listOpenIn(
  turn: Turn,
  named: NamedRepository,
  roles: readonly PullRequestRole[],
): readonly PullRequestRow[] {
  const { partition } = turn.self;
  const teamIds = listTeams(turn, named);
  const open = teamIds.flatMap((teamId) =>
    roles.flatMap((role) => pullRequests.all(turn, partition, { teamId, role, state: "open" })),
  );
  const keys = new Set(listRepositoryKeys(turn, partition, named));
  return open.filter((row) => keys.has(toRepositoryKey(row)));
}

/**
 * Sends each pull request in `rows` the request to read its state from the code host. Returns false if `rows` is empty.
 */
function notifyAll(turn: Turn, rows: readonly PullRequestRow[]): boolean {
  for (const { id } of rows) {
    turn.send(pullRequestRef(turn.self.partition, id), { type: "pull-request.seen", picture: null, reviews: [] });
  }
  return rows.length > 0;
}

/** The known rows of a person's pull request, and the news about it. */
interface Peoples {
  readonly rows: readonly PullRequestRow[];
  readonly at: {
    readonly host: string;
    readonly installationId: number;
    readonly repository: string;
    readonly repositoryId?: number | undefined;
    readonly number: number;
  };
  readonly seen: Seen;
}

function recordPeoples(turn: Turn, { rows, at, seen }: Peoples): boolean {
  const { picture } = seen;
  let isUnclear = false;
  for (const before of rows) {
    const applied = applySeen(before, seen);
    isUnclear ||= applied.isUnclear;
    storePeoples(turn, before, applied.row, seen.reviews);
  }
  const teamIds = listNewTo(turn, at, rows);
  if (picture !== null) for (const teamId of teamIds) insert(turn, teamId, { at, seen: { ...seen, picture } });
  const isWanted = rows.length > 0 || teamIds.length > 0;
  // Read the pull request if the news is unclear, or if it lacks the description that the service needs.
  if (isUnclear || (picture === null && isWanted)) {
    turn.cancelEffect(`look ${at.number}`);
    const { repositoryId: _known, ...there } = at;
    turn.start(LOOK_AT_PULL_REQUEST.request(`look ${at.number}`, { ...there, etag: null }));
  }
  return isWanted;
}

function insert(turn: Turn, teamId: string, { at, seen }: Omit<Peoples, "rows"> & { readonly seen: HostedSeen }): void {
  storePeoples(turn, null, applyAnswer(beginPeoples(turn, teamId, at), seen), seen.reviews);
}

/**
 * Returns a new row for a person's pull request, with only its number and repository. Adds the pull request's id to the
 * directory, so that requests find it.
 */
export function beginPeoples(turn: Turn, teamId: string, { repositoryId, ...at }: Peoples["at"]): PullRequestRow {
  const id = turn.newId("pr");
  turn.direct(pullRequestEntry(turn.self.partition, id));
  return {
    ...(repositoryId !== undefined && { repositoryId }),
    id,
    teamId,
    role: "people",
    taskId: null,
    lineId: null,
    ...at,
    url: null,
    title: "",
    author: null,
    branch: "",
    base: null,
    head: null,
    draft: false,
    state: "open",
    openedAt: null,
    createdAt: new Date(turn.now).toISOString(),
    firstReviewAt: null,
    reviewedCommits: [],
    mergedAt: null,
    mergeCommit: null,
    closedAt: null,
    revertedBy: null,
    hostUpdatedAt: null,
    isDirty: false,
    changed: null,
    vetted: null,
    asking: null,
    body: "",
    problem: null,
    waitsUntil: null,
    comments: {},
  };
}

type HostedSeen = Seen & { readonly picture: HostedPullRequest };

/** Stores a person's pull request. Records the facts of the pull request and of its reviews. */
export function storePeoples(
  turn: Turn,
  before: PullRequestRow | null,
  reported: PullRequestRow,
  reviews: Seen["reviews"] = [],
): void {
  const row = withPendingRevert(turn, before, reported);
  pullRequests.put(turn, turn.self.partition, before, row);
  recordPullRequestFact(turn, before, row);
  recordReviewFacts(turn, row, reviews);
}

/** Records the code host's answer about a person's pull request, for each team with a line on the repository. */
export function takeLook(turn: Turn, answer: LookResult): void {
  if (answer.problem !== null || answer.seen !== "changed") return;
  const { picture, reviews } = answer;
  const { repository, repositoryId, number } = picture;
  const connection = findReachingConnection(turn, turn.self.partition, repository);
  const named = { repository, repositoryId, ...(connection && { host: connection.host }) };
  if (connection !== undefined) recordReverts(turn, connection.host, picture);
  const rows = listByNumber(turn, turn.self.partition, { ...named, number });
  if (rows.some(({ role }) => role === "own")) return;
  const looked = (row: PullRequestRow): PullRequestRow => ({ ...row, lookedUpTo: row.hostUpdatedAt });
  for (const before of rows) storePeoples(turn, before, looked(applyAnswer(before, { picture, reviews })), reviews);
  if (connection === undefined) return;
  const { host, installationId } = connection;
  const at = { ...named, host, installationId, number };
  for (const teamId of listNewTo(turn, named, rows)) {
    const row = applyAnswer(beginPeoples(turn, teamId, at), { picture, reviews });
    storePeoples(turn, null, looked(row), reviews);
  }
}

/** Lists the teams that have a line on the repository and no row in `rows`. */
export function listNewTo(turn: Turn, named: NamedRepository, rows: readonly PullRequestRow[]): readonly string[] {
  return listTeams(turn, named).filter((teamId) => !rows.some((row) => row.teamId === teamId));
}

/** Records the reverts that a merged pull request names. */
function recordReverts(turn: Turn, host: string, picture: HostedPullRequest): void {
  const { state, title, body, repository, repositoryId, url } = picture;
  if (state !== "merged") return;
  const { partition } = turn.self;
  const of = { host, repository, repositoryId };
  const { numbers, commits } = findReverts(`${title}\n${body}`, repository, listNames(turn, partition, of));
  const named = [
    ...numbers.map((number) => ({
      reverts: `#${number}`,
      rows: listByNumber(turn, partition, { ...of, number }),
    })),
    ...commits.map((commit) => ({ reverts: commit, rows: listByMerge(turn, partition, { ...of, commit }) })),
  ];
  for (const { reverts, rows } of named) {
    if (rows.length === 0) storePendingRevert(turn, { named: of, reverts, by: url });
  }
  const reverted = named.flatMap(({ rows }) => rows);
  for (const row of new Map(reverted.map((one) => [one.id, one])).values()) {
    if (row.revertedBy !== null) continue;
    if (row.role === "own") turn.send(pullRequestRef(partition, row.id), { type: "pull-request.reverted", by: url });
    else storePeoples(turn, row, { ...row, revertedBy: url });
  }
}

/** Lists the teams with a line on the repository, by any of its names. */
export function listTeams(turn: Turn, named: NamedRepository): readonly string[] {
  const names = new Set(listNames(turn, turn.self.partition, named));
  const lines = listResources<LineFields>(turn, turn.self.partition, "line").filter(({ fields }) =>
    fields.repositories.some((one) => names.has(one.name.toLowerCase())),
  );
  return [...new Set(lines.flatMap(({ teamId }) => teamId ?? []))].sort();
}

/** Whether a line has the repository among its repositories, or has its config in the repository. */
export function isNamedByLine(turn: Turn, named: NamedRepository): boolean {
  if (listTeams(turn, named).length > 0) return true;
  const names = new Set(listNames(turn, turn.self.partition, named));
  const lines = listResources<LineFields>(turn, turn.self.partition, "line");
  return lines.some(
    ({ fields: { source } }) => source !== null && source !== undefined && names.has(source.repository.toLowerCase()),
  );
}

/** The reverts that a text names: pull request numbers of the repository, and commits. */
interface Reverted {
  readonly numbers: readonly number[];
  readonly commits: readonly string[];
}

/** Maximum number of pull request numbers, and of commits, to find in one text. */
const MAX_REVERTS = 20;

/**
 * Finds the reverts in a pull request's text: "Reverts owner/name#n", "Reverts #n", "This reverts commit <commit>".
 * `formerNames` are the repository's former names, in lower case.
 */
export function findReverts(text: string, repository: string, formerNames: readonly string[] = []): Reverted {
  const names = [repository.toLowerCase(), ...formerNames];
  const named = [...text.matchAll(/\bReverts ([\w.-]+\/[\w.-]+)?#(\d{1,10})\b/g)].filter(
    ([, of]) => of === undefined || names.includes(of.toLowerCase()),
  );
  const commits = [...text.matchAll(/\bThis reverts commit ([0-9a-f]{40,64})\b/g)];
  return {
    numbers: named.map(([, , number]) => Number(number)).slice(0, MAX_REVERTS),
    commits: commits.map(([, commit = ""]) => commit).slice(0, MAX_REVERTS),
  };
}
