import type { Reading } from "../../storage/store.js";
import { whyWaiting } from "../runners/placement.queries.js";
import { runs, toQueuedRun } from "../runs/run.table.js";
import type { ReplayCopyRow, ReplayRow } from "./replay.js";
import { isUnderWay } from "./replay.table.js";

/** What a replay waits for, as reads say it. */
export type WaitsFor = "model" | "runner";

/** `since`: when the model ceased to answer; of runners, when the run was queued that waits longest. */
export interface Wait {
  readonly for: WaitsFor;
  readonly since: string;
}

/**
 * What the replay waits for at the time of a read; null while it goes on. `model` is in its row. `runner`: no runner has
 * one of its runs, and none takes the oldest that is queued, since none that fits is connected or none has a free slot
 * for it. That follows from runners, so it is in no row and not on the replay's stream. `reading` keeps pictures
 * (`runtime/read-picture.ts`): elsewhere all runners of the workspace are read.
 */
export function whatItWaitsFor(
  reading: Reading,
  workspaceId: string,
  { replay, copies }: { readonly replay: ReplayRow; readonly copies: readonly ReplayCopyRow[] },
): WaitsFor | null {
  return findWait(reading, workspaceId, { replay, copies })?.for ?? null;
}

/** As {@link whatItWaitsFor}, and since when. */
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

/** The run that was queued first: ids rise with time. */
function findOldestQueued(copies: readonly ReplayCopyRow[]): string | null {
  const queued = copies.flatMap(({ state, runId }) => (state === "queued" && runId !== null ? [runId] : []));
  return queued.sort()[0] ?? null;
}
