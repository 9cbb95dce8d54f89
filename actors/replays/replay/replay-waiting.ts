import type { Reading } from "../../../storage/store.js";
import { whyWaiting } from "../../runners/placement.queries.js";
import { runs, toQueuedRun } from "../../runs/run.table.js";
import type { ReplayCopyRow, ReplayRow } from "./replay.js";
import { isUnderWay } from "./replay.table.js";

/** The reason why a replay waits, in its views. */
export type WaitsFor = "model" | "runner";

/** A wait. `since` is when the model stopped answering, or when the oldest queued run was queued. */
export interface Wait {
  readonly for: WaitsFor;
  readonly since: string;
}

/**
 * Returns what the replay waits for at the time of the read; null if the replay makes progress. `model` comes from the
 * replay's row. `runner` means that no runner has claimed a run of the replay, and no runner can claim the oldest
 * queued run.
 *
 * A wait for a runner depends on the runners, so it is neither in a row nor on the replay's stream. `reading` should
 * cache views (`runtime/rows/read-view.ts`); otherwise the function reads all runners of the workspace.
 */
export function whatItWaitsFor(
  reading: Reading,
  workspaceId: string,
  { replay, copies }: { readonly replay: ReplayRow; readonly copies: readonly ReplayCopyRow[] },
): WaitsFor | null {
  return findWait(reading, workspaceId, { replay, copies })?.for ?? null;
}

/** Like {@link whatItWaitsFor}, with the start of the wait. */
export function findWait(
  reading: Reading,
  workspaceId: string,
  { replay, copies }: { readonly replay: ReplayRow; readonly copies: readonly ReplayCopyRow[] },
): Wait | null {
  const { waiting, counts } = replay;
  if (waiting !== null) return waiting;
  if (!isUnderWay(replay) || counts.running > 0 || counts.queued === 0) return null;
  const oldest = findOldestQueued(copies);
  const run = oldest === null ? undefined : runs.get(reading, workspaceId, oldest);
  if (run === undefined) return null;
  const queued = toQueuedRun(run);
  if (whyWaiting(reading, workspaceId, queued) === null) return null;
  return { for: "runner", since: new Date(queued.queuedAtMs).toISOString() };
}

/** Returns the id of the run that was queued first; null if none is queued. Run ids increase over time. */
function findOldestQueued(copies: readonly ReplayCopyRow[]): string | null {
  const queued = copies.flatMap(({ state, runId }) => (state === "queued" && runId !== null ? [runId] : []));
  return queued.sort()[0] ?? null;
}
