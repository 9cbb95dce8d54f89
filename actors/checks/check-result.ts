import type { Reading } from "../../storage/store.js";
import { fromText } from "../fraction.js";
import { type Money, toAmount } from "../money.js";
import { isUnderWay } from "../replays/replay.table.js";
import { countSucceeded } from "../statistics/copy.js";
import { falseFailureChance } from "../statistics/false-failure.js";
import { findRegressions, type Regression } from "../statistics/regression.js";
import { successTotals } from "../statistics/success.js";
import type { ReplayCheckRow } from "./check.js";
import type { CheckResultRow, SideResult } from "./check-result.table.js";
import type { ReplaySide, ReplaySides, SideCopy } from "./check-sides.js";
import { listReasons } from "./failure-reasons.js";
import type { InSteps } from "./in-steps.js";

/** What a check shows of its replays, as far as they have come. */
export function* toResult(
  reading: Reading,
  workspaceId: string,
  { id, threshold, repeats }: Pick<ReplayCheckRow, "id" | "threshold" | "repeats">,
  { candidate, baseline, entries, runs }: ReplaySides,
): InSteps<CheckResultRow> {
  const { ceiling, mostRegressions } = threshold;
  const own = toSideResult(candidate, ceiling);
  yield;
  const other = toSideResult(baseline, ceiling);
  yield;
  const titles = new Map(entries.map(({ taskId, title }) => [taskId, title]));
  const regressions = findRegressions(candidate?.copies ?? [], baseline?.copies ?? [], runs).map((lost) => ({
    ...toTask(lost, titles),
    reasons: listReasons(reading, workspaceId, lost.candidate),
  }));
  yield;
  const isMeasured = baseline !== null && !isUnderWay(baseline.replay);
  const falseFailure = isMeasured ? falseFailureChance(baseline.copies, { repeats, mostRegressions }) : null;
  return { checkId: id, candidate: own, baseline: other, regressions, falseFailure };
}

function toSideResult(side: ReplaySide | null, { currency }: Money): SideResult {
  const copies = side?.copies ?? [];
  const { entries, scored, successRate, interval, tasksScored } = successTotals(copies);
  const spent =
    side === null
      ? { amount: 0, currency }
      : { amount: toAmount(fromText(side.replay.spending.spent)), currency: side.replay.ceiling.currency };
  return { entries, scored, succeeded: countSucceeded(copies), successRate, interval, tasksScored, spent };
}

function toTask(regression: Regression<SideCopy>, titles: ReadonlyMap<string, string>) {
  const { taskId, originalRunId, candidate, baseline, scoreDelta } = regression;
  return {
    ...{ taskId, originalRunId, title: titles.get(taskId) ?? "" },
    candidate: candidate.map(({ result }) => result),
    baseline: baseline.map(({ result }) => result),
    scoreDelta,
  };
}
