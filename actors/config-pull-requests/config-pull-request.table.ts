import { toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import type { Reading } from "../../storage/store.js";
import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";
import type { CandidatePullRequest, ConfigPullRequestRow } from "./config-pull-request.js";
import { configPullRequestRef } from "./config-pull-request.messages.js";
import { candidatePullRequest } from "./config-pull-request.view.js";

/** A change of a candidate's config pull request, as the search's stream publishes it. */
const searchTopic = topic<{
  readonly type: "config-pull-request";
  readonly candidateId: string;
  readonly pullRequest: CandidatePullRequest;
}>("search");

/** Key: `[id of the pull request]`. Ids increase with time. */
export const configPullRequests = indexedTable<ConfigPullRequestRow>("config-pull-request", {
  order: ["id"],
  indexes: { "candidate-pull-request": ["candidateId"], "team-config-pull-request": ["teamId"] },
  changes: (row) => {
    const { searchId, candidateId } = row;
    const data = { type: "config-pull-request", candidateId, pullRequest: candidatePullRequest(row) } as const;
    return [toChangeEntry(searchTopic(searchId), data)];
  },
});

/**
 * The retention of config pull requests. If the search is stored longer than the config pull request, the candidate can
 * be picked again.
 */
export const configPullRequestRetention = retain(configPullRequests, {
  period: "work",
  after: ["search", "replay-check"],
  startedAtMs: ({ createdAt }) => Date.parse(createdAt),
  endedAtMs: ({ state, updatedAt }) => (state === "opening" ? null : Date.parse(updatedAt)),
  remove: (turn, { candidateId }) => {
    turn.send(configPullRequestRef(turn.self.partition, candidateId), { type: "pull-request.forget" });
    return true;
  },
});

/** Finds the config pull request of a candidate; undefined until the first pick. */
export function findPullRequestByCandidate(
  reading: Reading,
  workspaceId: string,
  candidateId: string,
): ConfigPullRequestRow | undefined {
  return configPullRequests.all(reading, workspaceId, { candidateId }, { limit: 1 }).at(0);
}
