import { indexedTable } from "../tables/indexed-table.js";
import type { RegressedTask, SideResult } from "./check-schemas.js";

/**
 * The results of a check. The results stay available after the check's replays are removed. `regressions` has at most
 * 50 tasks, each with at most 5 reasons of up to 500 bytes.
 */
export interface CheckResultRow {
  readonly checkId: string;
  readonly candidate: SideResult;
  readonly baseline: SideResult;
  readonly regressions: readonly RegressedTask[];
  /**
   * The estimated probability that a change without effect fails this check, from 0 to 1. Null if it is not measured:
   * the baseline is gone or has not ended, or none of the baseline's tasks has two scored copies.
   */
  readonly falseFailure: number | null;
}

/** Key: `[check]` */
export const replayCheckResults = indexedTable<CheckResultRow>("replay-check-result", { order: ["checkId"] });
