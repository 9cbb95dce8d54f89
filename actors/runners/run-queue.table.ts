import { createHash } from "node:crypto";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { QueuedRun, RunNeeds } from "./runner.table.js";

/**
 * The queued runs of a workspace, by what they need: runs with the same needs stand in one line, oldest first, so that
 * thousands that no runner fits cost those that one fits nothing. Written by the dispatcher.
 */

/** `[needs, queuedAtMs, run]` */
const queuedRuns = table<QueuedRun>("queued-run");
/** `[needs]`: the needs that some queued run has. */
const queuedNeeds = table<RunNeeds>("queued-needs");

export function enqueue(writing: Writing, workspaceId: string, run: QueuedRun): void {
  const { poolId, labels, harness } = run;
  const needs = keyOf(run);
  queuedRuns.put(writing, workspaceId, [needs, run.queuedAtMs, run.runId], run);
  if (queuedNeeds.get(writing, workspaceId, needs) !== undefined) return;
  queuedNeeds.put(writing, workspaceId, needs, { poolId, labels, harness });
}

/** Takes a run out; one that is not there is fine. */
export function dequeue(writing: Writing, workspaceId: string, run: QueuedRun): void {
  const needs = keyOf(run);
  queuedRuns.remove(writing, workspaceId, needs, run.queuedAtMs, run.runId);
  const isLast = queuedRuns.list(writing, workspaceId, [needs], { limit: 1 }).length === 0;
  if (isLast) queuedNeeds.remove(writing, workspaceId, needs);
}

export function isQueued(reading: Reading, workspaceId: string, run: QueuedRun): boolean {
  return queuedRuns.get(reading, workspaceId, keyOf(run), run.queuedAtMs, run.runId) !== undefined;
}

/** Every distinct set of needs in the queue. */
export function needsQueued(reading: Reading, workspaceId: string): RunNeeds[] {
  return queuedNeeds.list(reading, workspaceId);
}

/** The runs with these needs that have waited longest. */
export function longestWaiting(reading: Reading, workspaceId: string, needs: RunNeeds, limit: number): QueuedRun[] {
  return queuedRuns.list(reading, workspaceId, [keyOf(needs)], { limit });
}

/** Labels may be many and long, a key may not. */
function keyOf({ poolId, labels, harness }: RunNeeds): string {
  const text = JSON.stringify([poolId, [...new Set(labels)].sort(), harness]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
