import { hash } from "node:crypto";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { QueuedRun, RunNeeds } from "./runner.table.js";

/**
 * The queued runs of a workspace. Runs of one lane with the same needs form a line, oldest first. The dispatcher only
 * considers the first run of each line, so thousands of runs that no runner fits do not slow down other runs. Only the
 * dispatcher writes the queue.
 *
 * Runs are ordered by era, then by time. If a fast clock is put back, its new time may be before the time of a waiting
 * run. The dispatcher then starts a new era. Runs of the new era count as younger than all runs of earlier eras.
 */

/** The common properties of all runs in a line. */
export interface LineRow extends RunNeeds {
  /** The lane of the line's runs; absent for `work`. */
  readonly lane?: string;
}

/** The stored state of a lane other than `work`. A lane without a row has no limit and was never served. */
export interface LaneRow {
  readonly lane: string;
  /** Maximum number of simultaneous claims; null for no limit. */
  readonly maxClaims: number | null;
  /** A counter over all lanes, set when a run of the lane is placed. The lane with the lowest value is served next. */
  readonly served: number;
}

/** The lane of tasks' runs, which people wait for. This lane is served before all other lanes. */
export const WORK_LANE = "work";

/** A queued run with its position. */
export interface QueuedRow extends QueuedRun {
  /** Increases by one each time a fast clock is put back while runs wait; absent for 0. */
  readonly era?: number;
}

/** Key: `[line, era, queuedAtMs, run]`. */
export const queuedRuns = table<QueuedRow>("queued-run");
/** Key: `[line]`. Only the lines that are not empty. */
export const queuedNeeds = table<LineRow>("queued-needs");
/** Key: `[lane]`. */
export const lanes = table<LaneRow>("run-lane");

/** The names of the queue's tables. */
export const queueTables: readonly string[] = [queuedRuns.name, queuedNeeds.name, lanes.name];

/** Returns the lane; `work` if none is set. */
export function getLane({ lane }: { readonly lane?: string }): string {
  return lane ?? WORK_LANE;
}

/** Converts needs to a canonical form as plain data: equal needs have equal forms. */
export function toNeedsParts({ poolId, labels, harness, features = [] }: RunNeeds): readonly unknown[] {
  const named = [...new Set(features)].sort();
  return [poolId, [...new Set(labels)].sort(), harness, ...(named.length === 0 ? [] : [{ features: named }])];
}

/** Returns the key of a run's line. The key is a hash, because needs may be longer than a key. */
export function toLineKey(run: LineRow): string {
  const lane = getLane(run);
  const parts = [...toNeedsParts(run), ...(lane === WORK_LANE ? [] : [lane])];
  return hash("sha256", JSON.stringify(parts), "hex").slice(0, 32);
}

export function getEra({ era }: Pick<QueuedRow, "era">): number {
  return era ?? 0;
}

/** Whether the left run was queued earlier. */
export function isOlder(left: QueuedRow, right: QueuedRow): boolean {
  const byEra = getEra(left) - getEra(right);
  const byTime = byEra === 0 ? left.queuedAtMs - right.queuedAtMs : byEra;
  return byTime === 0 ? left.runId < right.runId : byTime < 0;
}

export function storeQueued(writing: Writing, workspaceId: string, line: string, row: QueuedRow): void {
  queuedRuns.put(writing, workspaceId, [line, getEra(row), row.queuedAtMs, row.runId], row);
}

/** Removes a run from the queue if it is queued. */
export function removeQueued(writing: Writing, workspaceId: string, line: string, row: QueuedRow): void {
  queuedRuns.remove(writing, workspaceId, line, getEra(row), row.queuedAtMs, row.runId);
}

export function storeLine(writing: Writing, workspaceId: string, key: string, line: LineRow): void {
  const { poolId, labels, harness, features, lane } = line;
  const row = { poolId, labels, harness, ...(features && { features }), ...(lane === undefined ? {} : { lane }) };
  queuedNeeds.put(writing, workspaceId, key, row);
}

export function removeLine(writing: Writing, workspaceId: string, key: string): void {
  queuedNeeds.remove(writing, workspaceId, key);
}

/** Lists the lines that are not empty. */
export function listLines(reading: Reading, workspaceId: string): LineRow[] {
  return queuedNeeds.list(reading, workspaceId);
}

/** Lists the oldest runs of a line, oldest first. */
export function listOldest(reading: Reading, workspaceId: string, line: string, limit: number): QueuedRow[] {
  return queuedRuns.list(reading, workspaceId, [line], { limit });
}

/** Finds the run that was queued last, over all lines; undefined if none is queued. */
export function findYoungest(reading: Reading, workspaceId: string): QueuedRow | undefined {
  return listLines(reading, workspaceId)
    .flatMap((line) => queuedRuns.list(reading, workspaceId, [toLineKey(line)], { limit: 1, reverse: true }))
    .reduce<QueuedRow | undefined>((last, row) => (last === undefined || isOlder(last, row) ? row : last), undefined);
}

/**
 * Finds the row of a queued run; undefined if the run is not queued. Reads one or two rows for each era of the line.
 */
export function findQueued(reading: Reading, workspaceId: string, run: QueuedRun): QueuedRow | undefined {
  const line = toLineKey(run);
  const inEra = (era: number) => queuedRuns.get(reading, workspaceId, line, era, run.queuedAtMs, run.runId);
  let found = inEra(0);
  for (let era = 0; found === undefined; found = inEra(era)) {
    const [next] = queuedRuns.list(reading, workspaceId, [line], { after: [line, era], limit: 1 });
    if (next === undefined) return undefined;
    era = getEra(next);
  }
  return found;
}
