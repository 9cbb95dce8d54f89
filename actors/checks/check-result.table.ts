import { indexedTable } from "../tables/indexed-table.js";
import type { RegressedTask, SideResult } from "./check-schemas.js";

/**
 * The results of a check, which stay available after its replays are removed: at most 50 tasks, each with at most 5
 * reasons of 500 bytes.
 */
export interface CheckResultRow {
  readonly checkId: string;
  readonly candidate: SideResult;
  readonly baseline: SideResult;
  readonly regressions: readonly RegressedTask[];
  /**
   * The probability of a false failure, from 0 to 1; null until the baseline ends, and if none of its runs has two
   * scored copies.
   */
  readonly falseFailure: number | null;
}

/** Key: `[check]` */
export const replayCheckResults = indexedTable<CheckResultRow>("replay-check-result", { order: ["checkId"] });
