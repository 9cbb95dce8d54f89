import type { ConfigPullRequestRow } from "../../actors/config-pull-requests/config-pull-request.js";
import { configPullRequests } from "../../actors/config-pull-requests/config-pull-request.table.js";
import type { Store } from "../../storage/store.js";
import { memoryRows } from "./turn.js";
import { lineId, teamId } from "./work.js";

/** Returns a refused config pull request. */
export function configPullRequestRow(more: Partial<ConfigPullRequestRow> = {}): ConfigPullRequestRow {
  return {
    id: "cpr_1",
    teamId,
    searchId: "srch_1",
    candidateId: "cand_1",
    candidateName: "careful",
    lineId,
    stationId: "sta_work",
    stationKey: "work",
    state: "refused",
    url: null,
    source: null,
    attempts: 1,
    reason: {
      code: "no-source",
      message: "The line names no source.",
      attribute: null,
      expression: null,
      wanted: null,
    },
    branch: "config/dev-work-careful-cand_1",
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    ...more,
  };
}

/** Writes a config pull request into a store, and returns its id. */
export async function storeConfigPullRequest(
  store: Store,
  of: Partial<ConfigPullRequestRow> & { workspaceId: string },
): Promise<string> {
  const { workspaceId: partition, ...more } = of;
  const rows = memoryRows();
  const row = configPullRequestRow(more);
  configPullRequests.insert(rows, partition, row);
  await store.commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const));
  return row.id;
}
