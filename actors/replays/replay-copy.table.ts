import type { Reading } from "../../storage/store.js";
import type { Money } from "../money.js";
import type { RunOutcome } from "../runs/run.js";
import { indexedTable } from "../tables/indexed-table.js";
import { copyChange } from "./replay-changes.js";

/**
 * The states of a copy. `waiting` for a place in the dispatcher's queue, `queued` there, `running` with a runner,
 * `settled` when it runs no more. A copy that is judged has no result until it is `judged`.
 */
export type CopyState = "waiting" | "queued" | "running" | "settled" | "judging" | "judged";

/** One copy of a run of a replay. What its run did is in the rows of that run, which live as long as the replay. */
export interface ReplayCopyRow {
  readonly replayId: string;
  /** The place of its entry; with `repeat`, from 1, its name in the replay. */
  readonly place: number;
  readonly repeat: number;
  readonly originalRunId: string;
  readonly taskId: string;
  readonly state: CopyState;
  /** The run of its newest attempt; null before the first, and for a copy that never started. */
  readonly runId: string | null;
  /** The runs of earlier attempts, whose runners were lost: at most two. */
  readonly lostRunIds: readonly string[];
  /** Null until it is settled and, with a judge, judged. */
  readonly result: "succeeded" | "failed" | "unscored" | null;
  /** Why it did not succeed; null when it did, and without a result. */
  readonly why: { readonly code: string; readonly text: string } | null;
  /** The outcome of its last run. */
  readonly outcome: RunOutcome | null;
  /** What the station's check said of it, with the end of its output; null when it has none or it did not run. */
  readonly check: { readonly passed: boolean; readonly exitCode: number | null; readonly tail: string } | null;
  /** What its attempts reported, and its first judging where that is priced; null for nothing. */
  readonly spent: Money | null;
  /** Whether every attempt that began its agent reported its cost in the ceiling's currency. */
  readonly priced: boolean;
  /** Of the last attempt; null before it ended. `ms` from the start of its agent to its end, null if it did not start. */
  readonly steps: number | null;
  readonly ms: number | null;
  /** Calls of tools that were refused, since replays make none. */
  readonly toolMisses: number;
}

/** How much of a check's output a copy has, in characters; all of it is in its run. */
export const CHECK_TAIL = 1_024;

/** `[replay, place, repeat]` */
export const replayCopies = indexedTable<ReplayCopyRow>("replay-copy", {
  ...{ under: ["replayId"], order: ["place", "repeat"] },
  indexes: { "replay-copy-of-run": { by: ["runId", "replayId"], has: ["runId"] } },
  changes: (copy) => [copyChange(copy)],
});

/** Whether it runs no more. */
export function isSettled({ state }: Pick<ReplayCopyRow, "state">): boolean {
  return state !== "waiting" && state !== "queued" && state !== "running";
}

/** The copies of a replay, by place and then repeat: at most 250. */
export function listCopies(reading: Reading, workspaceId: string, replayId: string): readonly ReplayCopyRow[] {
  return replayCopies.list(reading, workspaceId, [replayId]);
}

/** The copy whose newest attempt is this run. */
export function findCopyOfRun(
  reading: Reading,
  workspaceId: string,
  { replayId, runId }: { readonly replayId: string; readonly runId: string },
): ReplayCopyRow | undefined {
  return replayCopies.all(reading, workspaceId, { replayId, runId }, { limit: 1 })[0];
}
