import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import { retain } from "../tables/retention.js";
import { derivedRows, storedAs } from "../tables/table-declaration.js";
import type { DecisionRow, DraftedDecision } from "./decision.js";

/** The merge of a task's pull request. */
export interface Merge {
  /** `owner/name` */
  readonly repository: string;
  /** The URL of the pull request's web page. */
  readonly url: string;
  readonly atMs: number;
}

/** The list entry of a standing decision. */
export interface StandingDecision {
  readonly id: string;
  readonly mergedAtMs: number;
  readonly taskId: string;
  readonly teamId: string;
  readonly repository: string;
  readonly url: string;
  readonly paths: readonly string[];
}

/** The decisions of each task's current set. Key: `[task, decision]` */
export const decisions = table<DecisionRow>("decision");
/** Key: `[decision]`. Only standing decisions. */
const decisionTasks = table<Pick<StandingDecision, "taskId" | "teamId">>("decision-task");
/** The standing decisions. Key: `[merged at (ms), decision]` */
export const standingDecisions = indexedTable<StandingDecision>("decision-standing", {
  order: ["mergedAtMs", "id"],
  indexes: { "decision-standing-in": { by: ["repository"], holdsRow: true } },
  derived: [derivedRows(decisionTasks, ({ id, taskId, teamId }) => [[[id], { taskId, teamId }]])],
  stored: storedAs(
    ({ id: _id, mergedAtMs: _mergedAtMs, ...stored }: StandingDecision) => stored,
    (stored, key) => ({ ...stored, mergedAtMs: Number(key.at(-2)), id: String(key.at(-1)) }),
  ),
});

/** The retention of standing decisions. The retention period of a standing decision starts at its merge. */
export const standingRetention = retain(standingDecisions, {
  period: "work",
  startedAtMs: ({ mergedAtMs }) => mergedAtMs,
  endedAtMs: ({ mergedAtMs }) => mergedAtMs,
  remove: (turn, standing) => {
    standingDecisions.remove(turn, turn.self.partition, standing);
    return true;
  },
});

/** Replaces the task's set. Call it in a turn of the task's `decisions` actor. */
export function replaceDecisionSet(
  turn: Turn,
  of: Pick<DecisionRow, "teamId" | "runId">,
  set: readonly DraftedDecision[],
): void {
  const { partition, id: taskId } = turn.self;
  for (const { id } of decisions.list(turn, partition, [taskId])) decisions.remove(turn, partition, taskId, id);
  const draftedAt = new Date(turn.now).toISOString();
  for (const decision of set) {
    const id = turn.newId("dec");
    decisions.put(turn, partition, [taskId, id], { ...decision, ...of, id, taskId, disputes: [], draftedAt });
  }
}

/**
 * Adds the decisions of the task's set to the lists, after the merge of the task's pull request. Call it in a turn of
 * the task's `decisions` actor.
 */
export function indexDecisionSet(turn: Turn, { repository, url, atMs }: Merge): void {
  const { partition, id: taskId } = turn.self;
  for (const { id, teamId, paths } of decisions.list(turn, partition, [taskId])) {
    standingDecisions.insert(turn, partition, { id, mergedAtMs: atMs, taskId, teamId, repository, url, paths });
  }
}

/** Finds the task and the team of the standing decision with this id; undefined if there is none. */
export function findTaskOfDecision(reading: Reading, workspaceId: string, decisionId: string) {
  return decisionTasks.get(reading, workspaceId, decisionId);
}
