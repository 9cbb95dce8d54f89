import { hash } from "node:crypto";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { QueuedRun, RunNeeds } from "./runner.table.js";

/**
 * The queued runs of a workspace. Runs of one lane with the same needs form a line, oldest first. Only the head of each
 * line is considered, so thousands of runs that no runner fits do not slow down the others. Written by the dispatcher.
 *
 * Runs are in the order of their eras, and of their times within one. The dispatcher begins an era when the clock is
 * behind the time of a run that waits: it was ahead then, and what comes now is younger whatever its time says.
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

/** A queued run in its place. */
export interface QueuedRow extends QueuedRun {
  /** Rises by one each time the clock, which was ahead, is put back while runs wait; absent for 0. */
  readonly era?: number;
}

/** `[line, era, queuedAtMs, run]` */
const queuedRuns = table<QueuedRow>("queued-run");
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

/** Removes a run from the queue if it is there. */
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

/** The lines that are not empty. */
export function listLines(reading: Reading, workspaceId: string): LineRow[] {
  return queuedNeeds.list(reading, workspaceId);
}

/** The oldest runs of a line, oldest first. */
export function listOldest(reading: Reading, workspaceId: string, line: string, limit: number): QueuedRow[] {
  return queuedRuns.list(reading, workspaceId, [line], { limit });
}

/** The run that was queued last, of all lines; undefined when none is queued. */
export function findYoungest(reading: Reading, workspaceId: string): QueuedRow | undefined {
  return listLines(reading, workspaceId)
    .flatMap((line) => queuedRuns.list(reading, workspaceId, [toLineKey(line)], { limit: 1, reverse: true }))
    .reduce<QueuedRow | undefined>((last, row) => (last === undefined || isOlder(last, row) ? row : last), undefined);
}

/** The row of a run; undefined when it is not queued. Reads a row or two for each era of the line. */
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
