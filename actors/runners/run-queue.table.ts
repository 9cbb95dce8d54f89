import { hash } from "node:crypto";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { QueuedRun, RunNeeds } from "./runner.table.js";

/**
 * The queued runs of a workspace. Runs of one lane with the same needs form a line, oldest first. Only the head of each
 * line is considered, so thousands of runs that no runner fits do not slow down the others. Written by the dispatcher.
 */

/** What all runs of a line have in common. */
export interface LineRow extends RunNeeds {
  /** Absent for `work`. */
  readonly lane?: string;
}

/** The stored state of a lane other than `work`. A lane without a row has no limit and was never served. */
export interface LaneRow {
  readonly lane: string;
  /** Claims at once; null for no limit. */
  readonly maxClaims: number | null;
  /** A counter over all lanes, set when a run of the lane is placed. The lane with the lowest is served next. */
  readonly served: number;
}

/** The lane of tasks' runs, which people wait for. It is served before all others. */
export const WORK_LANE = "work";

/** `[line, queuedAtMs, run]` */
const queuedRuns = table<QueuedRun>("queued-run");
/** `[line]`: the lines that are not empty. */
const queuedNeeds = table<LineRow>("queued-needs");
/** `[lane]` */
export const lanes = table<LaneRow>("run-lane");

/** The names of the queue's tables. */
export const queueTables: readonly string[] = [queuedRuns.name, queuedNeeds.name, lanes.name];

/** The lane; `work` where none is named. */
export function getLane({ lane }: { readonly lane?: string }): string {
  return lane ?? WORK_LANE;
}

/** Needs in a canonical form, as plain data: equal for equal needs. */
export function toNeedsParts({ poolId, labels, harness, features = [] }: RunNeeds): readonly unknown[] {
  const named = [...new Set(features)].sort();
  return [poolId, [...new Set(labels)].sort(), harness, ...(named.length === 0 ? [] : [{ features: named }])];
}

/** The key of a run's line: a hash, since needs may be longer than a key. */
export function toLineKey(run: LineRow): string {
  const lane = getLane(run);
  const parts = [...toNeedsParts(run), ...(lane === WORK_LANE ? [] : [lane])];
  return hash("sha256", JSON.stringify(parts), "hex").slice(0, 32);
}

export function storeQueued(writing: Writing, workspaceId: string, line: string, run: QueuedRun): void {
  queuedRuns.put(writing, workspaceId, [line, run.queuedAtMs, run.runId], run);
}

/** Removes a run from the queue if it is there. */
export function removeQueued(writing: Writing, workspaceId: string, line: string, run: QueuedRun): void {
  queuedRuns.remove(writing, workspaceId, line, run.queuedAtMs, run.runId);
}

export function storeLine(writing: Writing, workspaceId: string, key: string, line: LineRow): void {
  const { poolId, labels, harness, features, lane } = line;
  const row = { poolId, labels, harness, ...(features && { features }), ...(lane === undefined ? {} : { lane }) };
  queuedNeeds.put(writing, workspaceId, key, row);
}

export function removeLine(writing: Writing, workspaceId: string, key: string): void {
  queuedNeeds.remove(writing, workspaceId, key);
}

/** The lines that are not empty. */
export function listLines(reading: Reading, workspaceId: string): LineRow[] {
  return queuedNeeds.list(reading, workspaceId);
}

/** The oldest runs of a line, oldest first. */
export function listOldest(reading: Reading, workspaceId: string, line: string, limit: number): QueuedRun[] {
  return queuedRuns.list(reading, workspaceId, [line], { limit });
}

export function isQueued(reading: Reading, workspaceId: string, run: QueuedRun): boolean {
  return queuedRuns.get(reading, workspaceId, toLineKey(run), run.queuedAtMs, run.runId) !== undefined;
}
