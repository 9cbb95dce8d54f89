import { hash } from "node:crypto";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { QueuedRun, RunNeeds } from "./runner.table.js";

/**
 * The queued runs of a workspace, by lane and by what they need: runs of a lane with the same needs stand in one line,
 * oldest first, so that thousands that no runner fits cost those that one fits nothing. Written by the dispatcher.
 */

/** What the runs of one line have in common. */
export interface LineRow extends RunNeeds {
  /** Absent for `work`. */
  readonly lane?: string;
}

/** What is remembered of a lane beside `work`; one without a row has no limit and was never served. */
export interface LaneRow {
  readonly lane: string;
  /** Claims at once; null for no limit. */
  readonly maxClaims: number | null;
  /** When a run of it was placed last, counted over all lanes: the lane that was served longest ago is next. */
  readonly served: number;
}

/** The lane of runs that people wait for: it is served first. */
export const WORK_LANE = "work";

/** `[line, queuedAtMs, run]` */
const queuedRuns = table<QueuedRun>("queued-run");
/** `[line]`: the lines that some queued run stands in. */
const queuedNeeds = table<LineRow>("queued-needs");
/** `[lane]` */
export const lanes = table<LaneRow>("run-lane");

/** The tables of the queue, for what is held in memory of them. */
export const queueTables: readonly string[] = [queuedRuns.name, queuedNeeds.name, lanes.name];

/** The lane of what may not name it. */
export function getLane({ lane }: { readonly lane?: string }): string {
  return lane ?? WORK_LANE;
}

/** What two needs are the same by, as plain data. */
export function toNeedsParts({ poolId, labels, harness, features = [] }: RunNeeds): readonly unknown[] {
  const named = [...new Set(features)].sort();
  return [poolId, [...new Set(labels)].sort(), harness, ...(named.length === 0 ? [] : [{ features: named }])];
}

/** The key of the line that a run stands in. Labels may be many and long, a key may not. */
export function toLineKey(run: LineRow): string {
  const lane = getLane(run);
  const parts = [...toNeedsParts(run), ...(lane === WORK_LANE ? [] : [lane])];
  return hash("sha256", JSON.stringify(parts), "hex").slice(0, 32);
}

export function storeQueued(writing: Writing, workspaceId: string, line: string, run: QueuedRun): void {
  queuedRuns.put(writing, workspaceId, [line, run.queuedAtMs, run.runId], run);
}

/** Takes a run out; one that is not there is fine. */
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

/** Every line that a run stands in. */
export function listLines(reading: Reading, workspaceId: string): LineRow[] {
  return queuedNeeds.list(reading, workspaceId);
}

/** The runs that have stood longest in a line. */
export function listOldest(reading: Reading, workspaceId: string, line: string, limit: number): QueuedRun[] {
  return queuedRuns.list(reading, workspaceId, [line], { limit });
}

export function isQueued(reading: Reading, workspaceId: string, run: QueuedRun): boolean {
  return queuedRuns.get(reading, workspaceId, toLineKey(run), run.queuedAtMs, run.runId) !== undefined;
}
