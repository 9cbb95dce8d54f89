import { toChangeEntry, topic } from "../../../runtime/feeds/topic.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import type { Reading } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";
import { indexedTable } from "../../tables/indexed-table.js";
import type { RetentionRule } from "../../tables/retention.js";
import { retain } from "../../tables/retention.js";
import { digestsOfText } from "../../tables/text-blobs.js";
import { type ActionRunRow, isOver, MAX_RUNS, STORED_MS } from "./action-run.js";

/** The change that subscribers of a team receive when an action run ends. */
const teamTopic = topic<{ readonly type: "action-run" } & Pick<ActionRunRow, "id" | "integrationId" | "state">>("team");

/** Key: `[integration, action run]`. Ids increase with time. */
export const actionRuns = indexedTable<ActionRunRow>("action-run", {
  under: ["integrationId"],
  order: ["id"],
  indexes: { "action-run-in": { by: ["integrationId", "state"], only: { state: ["waiting", "failed"] } } },
  blobs: ({ values }) => digestsOfText(values),
  changes: ({ id, teamId, integrationId, state }, _reading, { before }) =>
    before?.state === state || !isOver(state)
      ? []
      : [toChangeEntry(teamTopic(teamId), { type: "action-run", id, integrationId, state })],
});

/** Key: `[integration]`. Value: the number of stored runs. */
export const counts = table<number>("action-run-count");

/** Maximum number of old rows to remove when a new row is inserted. */
const REMOVED_AT_ONCE = 4;

export function findActionRun(
  reading: Reading,
  workspaceId: string,
  integrationId: string,
  id: string,
): ActionRunRow | undefined {
  return actionRuns.get(reading, workspaceId, integrationId, id);
}

/**
 * Stores a new run. If the integration has more than {@link MAX_RUNS} runs, also removes some of the oldest finished
 * runs.
 */
export function insertActionRun(turn: Turn, row: ActionRunRow): void {
  const { partition } = turn.self;
  actionRuns.insert(turn, partition, row);
  const count = addToCount(turn, row.integrationId, 1);
  if (count <= MAX_RUNS) return;
  const oldest = actionRuns.list(turn, partition, [row.integrationId], { limit: REMOVED_AT_ONCE });
  for (const old of oldest.filter(({ state }) => isOver(state)).slice(0, count - MAX_RUNS)) removeActionRun(turn, old);
}

function removeActionRun(turn: Turn, row: ActionRunRow): void {
  actionRuns.remove(turn, turn.self.partition, row);
  addToCount(turn, row.integrationId, -1);
}

function addToCount(turn: Turn, integrationId: string, more: number): number {
  const { partition } = turn.self;
  const count = (counts.get(turn, partition, integrationId) ?? 0) + more;
  if (count > 0) counts.put(turn, partition, integrationId, count);
  else counts.remove(turn, partition, integrationId);
  return count;
}

const retention = retain(actionRuns, {
  period: "hooks",
  cost: 2,
  lineParts: 1,
  startedAtMs: ({ begunAt }) => Date.parse(begunAt),
  endedAtMs: ({ endedAt }) => (endedAt === null ? null : Date.parse(endedAt)),
  remove: (turn, row) => {
    removeActionRun(turn, row);
    return true;
  },
});

/** Removes finished runs after {@link STORED_MS}, or after the retention period for hooks if that is shorter. */
export const actionRunRetention: RetentionRule = {
  ...retention,
  sweep: (turn, slice) => retention.sweep(turn, { ...slice, cutoffMs: Math.max(slice.cutoffMs, turn.now - STORED_MS) }),
};
