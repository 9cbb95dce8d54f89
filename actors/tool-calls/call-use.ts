import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { type CallUse, callUses } from "./tool-call.table.js";

/** The limits of a run's calls: number, bytes and waiting time. */

/** Maximum number of calls of a run. */
const MAX_CALLS = 2_000;
/** Maximum total bytes of the inputs and outputs of a run's calls. */
const MAX_BYTES = 64 * 1024 * 1024;

const HOUR_MS = 60 * 60 * 1_000;
/** Maximum time that one call waits for a person, in milliseconds. */
const MAX_WAIT_MS = 24 * HOUR_MS;
/** Maximum time that the calls of a run wait for people, in milliseconds. Simultaneous waits count once. */
const MAX_WAIT_OF_RUN_MS = 3 * 24 * HOUR_MS;

const unused: CallUse = { calls: 0, bytes: 0, waiting: 0, waitingSinceMs: 0, waitedMs: 0 };

function getUse(reading: Reading, workspaceId: string, runId: string): CallUse {
  return callUses.get(reading, workspaceId, runId) ?? unused;
}

/**
 * Returns the reason why the run may make no further call, as text for the agent; null if the run may make another
 * call.
 */
export function whyNoMoreCalls(reading: Reading, workspaceId: string, runId: string): string | null {
  const { calls, bytes } = getUse(reading, workspaceId, runId);
  if (calls >= MAX_CALLS) return `This run has made ${MAX_CALLS} calls, the maximum.`;
  return bytes < MAX_BYTES ? null : `The calls of this run have used ${MAX_BYTES / 1024 / 1024} MiB, the maximum.`;
}

/** Adds to the number and bytes of the run's calls. */
export function addUse(turn: Turn, runId: string, more: Pick<CallUse, "calls" | "bytes">): void {
  const { partition } = turn.self;
  const use = getUse(turn, partition, runId);
  callUses.put(turn, partition, runId, { ...use, calls: use.calls + more.calls, bytes: use.bytes + more.bytes });
}

/** Adds one to the run's waiting calls. Returns the deadline of the new wait, in milliseconds since 1970. */
export function beginWait(turn: Turn, runId: string): number {
  const { partition } = turn.self;
  const use = getUse(turn, partition, runId);
  const waitingSinceMs = use.waiting === 0 ? turn.now : use.waitingSinceMs;
  callUses.put(turn, partition, runId, { ...use, waiting: use.waiting + 1, waitingSinceMs });
  const untilOfRunMs = waitingSinceMs + MAX_WAIT_OF_RUN_MS - use.waitedMs;
  return Math.max(turn.now, Math.min(turn.now + MAX_WAIT_MS, untilOfRunMs));
}

/** Subtracts one from the run's waiting calls. */
export function endWait(turn: Turn, runId: string): void {
  const { partition } = turn.self;
  const use = getUse(turn, partition, runId);
  const waiting = Math.max(0, use.waiting - 1);
  const waited = waiting === 0 ? Math.max(0, turn.now - use.waitingSinceMs) : 0;
  callUses.put(turn, partition, runId, {
    ...use,
    waiting,
    waitedMs: use.waitedMs + waited,
    waitingSinceMs: waiting === 0 ? 0 : use.waitingSinceMs,
  });
}
