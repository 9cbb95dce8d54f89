import type { Money } from "../money.js";
import type { CopyResult } from "../statistics/copy.js";
import type { Interval } from "../statistics/success.js";
import { indexedTable } from "../tables/indexed-table.js";

/** How one side of a check did. */
export interface SideResult {
  /** Copies; and of these the scored, and those that succeeded. */
  readonly entries: number;
  readonly scored: number;
  readonly succeeded: number;
  /** From 0 to 1, as `interval`; null while no task is scored. */
  readonly successRate: number | null;
  readonly interval: Interval | null;
  readonly tasksScored: number;
  /** What its copies reported, in the ceiling's currency. */
  readonly spent: Money;
}

/** A task that regressed. */
export interface RegressedTask {
  readonly taskId: string;
  /** The run that lost most. */
  readonly originalRunId: string;
  /** The task's title when the check started. */
  readonly title: string;
  /** The results of each side's copies, by run in the order of the set, then by copy. */
  readonly candidate: readonly CopyResult[];
  readonly baseline: readonly CopyResult[];
  /** The candidate's share of success less the baseline's. */
  readonly scoreDelta: number;
  /** Why its copies failed, each once. */
  readonly reasons: readonly { readonly code: string; readonly detail: string }[];
}

/** What a check found, kept for when its replays are gone: at most 50 tasks with 5 reasons of 500 bytes. */
export interface CheckResultRow {
  readonly checkId: string;
  readonly candidate: SideResult;
  readonly baseline: SideResult;
  readonly regressions: readonly RegressedTask[];
  /** The chance of a false failure, from 0 to 1; null where it was not measured. */
  readonly falseFailure: number | null;
}

/** `[check]` */
export const replayCheckResults = indexedTable<CheckResultRow>("replay-check-result", { order: ["checkId"] });
