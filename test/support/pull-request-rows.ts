import type { PullRequestRow } from "../../actors/pull-requests/pull-request.js";
import { pullRequestEntry, pullRequests } from "../../actors/pull-requests/pull-request.table.js";
import { directoryKey } from "../../runtime/directories/directory.js";
import type { Store } from "../../storage/store.js";
import { memoryRows } from "./turn.js";
import { teamId } from "./work.js";

/** Returns a person's pull request. */
export function pullRequestRow(more: Partial<PullRequestRow> = {}): PullRequestRow {
  return {
    id: "pr_1",
    teamId,
    role: "people",
    taskId: null,
    lineId: null,
    host: "code.example",
    installationId: 7,
    repository: "acme/app",
    number: 12,
    url: "https://code.example/acme/app/pull/12",
    title: "Mend",
    author: { login: "ann", isPerson: true },
    branch: "mend",
    base: "main",
    head: "a".repeat(40),
    draft: false,
    state: "open",
    createdAt: "2026-01-01T00:00:00.000Z",
    openedAt: "2026-01-01T00:00:00.000Z",
    firstReviewAt: null,
    reviewedCommits: [],
    mergedAt: null,
    mergeCommit: null,
    closedAt: null,
    revertedBy: null,
    hostUpdatedAt: "2026-01-01T00:00:00.000Z",
    isDirty: false,
    changed: null,
    vetted: null,
    asking: null,
    body: "",
    problem: null,
    waitsUntil: null,
    comments: {},
    ...more,
  };
}

/** Writes a pull request into a store, and returns its id. */
export async function storePullRequest(
  store: Store,
  workspaceId: string,
  more: Partial<PullRequestRow> = {},
): Promise<string> {
  const rows = memoryRows();
  const row = pullRequestRow(more);
  pullRequests.insert(rows, workspaceId, row);
  const entry = pullRequestEntry(workspaceId, row.id);
  rows.put(directoryKey(entry), entry.row);
  await store.commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const));
  return row.id;
}
