import type { Money } from "../money.js";
import type { CopyResult } from "../statistics/copy.js";
import type { Interval } from "../statistics/success.js";
import { indexedTable } from "../tables/indexed-table.js";

/** The result of one side of a check. */
export interface SideResult {
  /** The number of copies. `scored` and `succeeded` count some of them. */
  readonly entries: number;
  readonly scored: number;
  readonly succeeded: number;
  /** The success rate, from 0 to 1, and its interval; both null while no task is scored. */
  readonly successRate: number | null;
  readonly interval: Interval | null;
  readonly tasksScored: number;
  /** The reported cost of its copies, in the ceiling's currency. */
  readonly spent: Money;
}

/** A task that regressed. */
export interface RegressedTask {
  readonly taskId: string;
  /** The run of the task with the greatest loss. */
  readonly originalRunId: string;
  /** The task's title at the start of the check. */
  readonly title: string;
  /** The results of each side's copies, by run in the order of the set, then by copy. */
  readonly candidate: readonly CopyResult[];
  readonly baseline: readonly CopyResult[];
  /** The candidate's success share minus the baseline's. */
  readonly scoreDelta: number;
  /** Why its copies failed, without duplicates. */
  readonly reasons: readonly { readonly code: string; readonly detail: string }[];
}

/**
 * The results of a check, stored for after its replays are removed: at most 50 tasks, each with at most 5 reasons of
 * 500 bytes.
 */
export interface CheckResultRow {
  readonly checkId: string;
  readonly candidate: SideResult;
  readonly baseline: SideResult;
  readonly regressions: readonly RegressedTask[];
  /**
   * The probability of a false failure, from 0 to 1; null until the baseline ends, and if no run of it has two scored
   * copies.
   */
  readonly falseFailure: number | null;
}

/** Key: `[check]` */
export const replayCheckResults = indexedTable<CheckResultRow>("replay-check-result", { order: ["checkId"] });
