import type { DirectoryEntry } from "../../runtime/directories/directory.js";
import { rowSource } from "../../runtime/directories/directory-source.js";
import { toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import { expected } from "../../storage/expected.js";
import type { KeyPart, Reading } from "../../storage/store.js";
import { type Table, table } from "../../storage/table.js";
import { listRepositoryKeys, type NamedRepository, toRepositoryKey } from "../code-host/hosted-repository.queries.js";
import { locationEntry } from "../resources/resource-location.table.js";
import { changedMembers } from "../tables/changed-members.js";
import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";
import { derivedRows } from "../tables/table-declaration.js";
import { digestsOfText } from "../tables/text-blobs.js";
import { type Titled, type TitleEntry, titleEntries } from "../tables/title-index.js";
import type { PullRequestRow } from "./pull-request.js";
import { pullRequestRef } from "./pull-request.messages.js";
import { type PullRequestView, pullRequestView } from "./pull-request.view.js";

/**
 * A change of a pull request, as published in its stream: the id and the changed members, or all members of a new pull
 * request.
 */
const pullRequestTopic = topic<{
  readonly type: "pull-request";
  readonly pullRequest: Pick<PullRequestView, "id"> & Partial<PullRequestView>;
}>("pull-request");

/** A new pull request or a new state, as the team's stream publishes it. */
const teamTopic = topic<{
  readonly type: "pull-request";
  readonly id: string;
  readonly taskId: string | null;
  readonly state: PullRequestRow["state"];
}>("team");

/** Key: `[repository key, number, pull request]`. Finds the pull requests that the code host's news is about. */
const pullRequestNumbers = table<true>("pull-request-number");
/** Key: `[repository key, merge commit, pull request]`. */
const pullRequestMerges = table<true>("pull-request-merge");
/** Key: `[repository key, branch, pull request]`. Only for branches of the repository itself. */
const pullRequestBranches = table<true>("pull-request-branch");

/** The titles of pull requests, by words, for callers who read the team's outcomes (`../tables/title-index.ts`). */
export const pullRequestTitles = table<Titled>("pull-request-title");

/** Key: `[pull request]`. Ids increase with time. */
export const pullRequests = indexedTable<PullRequestRow>("pull-request", {
  order: ["id"],
  indexes: {
    "team-pull-request": ["teamId", "state"],
    "team-pull-request-by-role": ["teamId", "role", "state"],
    "task-pull-request": { by: ["taskId"], has: ["taskId"] },
  },
  derived: [
    derivedRows(pullRequestNumbers, (row) =>
      row.number === null ? [] : [[[toRepositoryKey(row), row.number, row.id], true]],
    ),
    derivedRows(pullRequestMerges, (row) =>
      row.mergeCommit === null ? [] : [[[toRepositoryKey(row), row.mergeCommit, row.id], true]],
    ),
    derivedRows(pullRequestBranches, (row) =>
      row.role === "own" || (row.branch !== "" && row.fork !== true)
        ? [[[toRepositoryKey(row), row.branch, row.id], true]]
        : [],
    ),
    titleEntries<PullRequestRow>(pullRequestTitles, {
      scope: ({ teamId }) => teamId,
      titles: (row) => [toTitle(row)],
      isSame: (before, after) => before.title === after.title && before.number === after.number,
    }),
  ],
  blobs: ({ changed, vetted, asking, body, comments }) => [
    ...[changed, vetted, asking].filter((digest) => digest !== null),
    ...[body, ...Object.values(comments).map(({ text }) => text)].flatMap(digestsOfText),
  ],
  changes: (row, _reading, { first }) => {
    const changed = changedMembers(first === null ? null : pullRequestView(first), pullRequestView(row));
    if (Object.keys(changed).length === 0) return [];
    const { id, taskId, teamId, state } = row;
    const data = { type: "pull-request", pullRequest: { ...changed, id } } as const;
    const isNews = first === null || first.state !== state;
    const ofTeam = isNews ? [toChangeEntry(teamTopic(teamId), { type: "pull-request", id, taskId, state })] : [];
    return [toChangeEntry(pullRequestTopic(id), data), ...ofTeam];
  },
});

function toTitle({ id, title, teamId, number }: PullRequestRow): TitleEntry {
  return { id, kind: "pull-request", title, teamId, ...(number !== null && { also: `#${number}` }) };
}

/** The directory entry that locates a pull request by its id. */
export function pullRequestEntry(workspaceId: string, pullRequestId: string): DirectoryEntry {
  return locationEntry(pullRequestId, { workspaceId, kind: "pull-request" });
}

export const pullRequestSource = rowSource(pullRequests, ({ id }, { partition }) => [pullRequestEntry(partition, id)]);

/**
 * Retention of ended pull requests. A failed pull request counts as ended at its creation. A person's open pull request
 * counts as ended at its last change. Any other pull request is removed only after it was merged or closed.
 */
export const pullRequestRetention = retain(pullRequests, {
  period: "work",
  after: ["task", "run", "config-pull-request"],
  cost: 4,
  startedAtMs: ({ createdAt }) => Date.parse(createdAt),
  endedAtMs: ({ role, state, createdAt, mergedAt, closedAt, hostUpdatedAt }) => {
    if (state === "failed") return Date.parse(createdAt);
    if (role !== "own" && state === "open") return Date.parse(hostUpdatedAt ?? createdAt);
    return state === "merged" || state === "closed" ? Date.parse(mergedAt ?? closedAt ?? createdAt) : null;
  },
  remove: (turn, { id }) => {
    turn.send(pullRequestRef(turn.self.partition, id), { type: "pull-request.forget" });
    return true;
  },
});

/** Lists the pull requests of a task, oldest first. */
export const listTaskPullRequests: (reading: Reading, workspaceId: string, taskId: string) => PullRequestRow[] =
  pullRequests.under("task-pull-request");

/**
 * Lists the rows of the pull request with this number. A task's pull request has one row. A person's pull request has
 * one row for each team.
 */
export function listByNumber(
  reading: Reading,
  workspaceId: string,
  of: NamedRepository & { readonly number: number },
): PullRequestRow[] {
  return listUnder(pullRequestNumbers, reading, workspaceId, { of, part: of.number });
}

/** Lists the pull requests that were merged with this commit. */
export function listByMerge(
  reading: Reading,
  workspaceId: string,
  of: NamedRepository & { readonly commit: string },
): PullRequestRow[] {
  return listUnder(pullRequestMerges, reading, workspaceId, { of, part: of.commit });
}

/** A branch of a repository. */
interface RepositoryBranch extends NamedRepository {
  readonly branch: string;
}

/** Lists the pull requests of tasks from this branch, oldest first. */
export function listByBranch(reading: Reading, workspaceId: string, of: RepositoryBranch): PullRequestRow[] {
  return listFrom(reading, workspaceId, of).filter(({ role }) => role === "own");
}

/** Finds an open pull request from this branch, of a task or a person; undefined if there is none. */
export function findOpenFrom(
  reading: Reading,
  workspaceId: string,
  of: RepositoryBranch,
): (PullRequestRow & { readonly number: number; readonly url: string }) | undefined {
  return listFrom(reading, workspaceId, of)
    .flatMap((row) => (isAtHost(row) && row.state === "open" ? [row] : []))
    .at(-1);
}

function isAtHost(row: PullRequestRow): row is PullRequestRow & { readonly number: number; readonly url: string } {
  return row.number !== null && row.url !== null;
}

function listFrom(reading: Reading, workspaceId: string, of: RepositoryBranch): PullRequestRow[] {
  return listUnder(pullRequestBranches, reading, workspaceId, { of, part: of.branch });
}

/**
 * Lists the rows of the repository whose index key continues with `part` after the repository key. Reads all keys of
 * the repository.
 */
function listUnder(
  index: Table<true>,
  reading: Reading,
  workspaceId: string,
  { of, part }: { readonly of: NamedRepository; readonly part: KeyPart },
): PullRequestRow[] {
  return listRepositoryKeys(reading, workspaceId, of)
    .flatMap((key) => index.entries(reading, workspaceId, [key, part]))
    .map(({ key }) => {
      const id = String(key.at(-1));
      return expected(pullRequests.get(reading, workspaceId, id), pullRequests.key(workspaceId, id));
    });
}
