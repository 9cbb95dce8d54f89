import { fromText } from "../fraction.js";
import { type Money, toAmount } from "../money.js";
import { firstBytes, lastBytes } from "../replays/figures/excerpt.js";
import { isUnderWay } from "../replays/replay.table.js";
import { countSucceeded } from "../statistics/copy.js";
import { falseFailureChance } from "../statistics/false-failure.js";
import { findRegressions, type Regression } from "../statistics/regression.js";
import { successTotals } from "../statistics/success.js";
import type { ReplayCheckRow } from "./check.js";
import type { CheckResultRow, RegressedTask, SideResult } from "./check-result.table.js";
import type { ReplaySide, ReplaySides, SideCopy } from "./check-sides.js";

/** Most reasons of a regressed task, and most bytes of each. */
const MAX_REASONS = 5;
const REASON_BYTES = 500;

/** What a check shows of its replays, as far as they have come. */
export function toResult(
  { id, threshold, repeats }: Pick<ReplayCheckRow, "id" | "threshold" | "repeats">,
  sides: ReplaySides,
): CheckResultRow {
  const { ceiling, mostRegressions } = threshold;
  const { candidate, baseline, entries, runs } = sides;
  const titles = new Map(entries.map(({ taskId, title }) => [taskId, title]));
  const lost = findRegressions(candidate?.copies ?? [], baseline?.copies ?? [], runs);
  const isMeasured = baseline !== null && !isUnderWay(baseline.replay);
  return {
    checkId: id,
    candidate: toSideResult(candidate, ceiling),
    baseline: toSideResult(baseline, ceiling),
    regressions: lost.map((regression) => toTask(regression, titles)),
    falseFailure: isMeasured ? falseFailureChance(baseline.copies, { repeats, mostRegressions }) : null,
  };
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

function toTask(regression: Regression<SideCopy>, titles: ReadonlyMap<string, string>): RegressedTask {
  const { taskId, originalRunId, candidate, baseline, scoreDelta } = regression;
  return {
    ...{ taskId, originalRunId, title: titles.get(taskId) ?? "" },
    candidate: candidate.map(({ result }) => result),
    baseline: baseline.map(({ result }) => result),
    ...{ scoreDelta, reasons: listReasons(candidate) },
  };
}

/** Why copies failed, each reason once, in the order of the copies. */
function listReasons(copies: readonly SideCopy[]): RegressedTask["reasons"] {
  const reasons = copies.flatMap((copy) => (copy.result === "failed" && copy.why !== null ? [toReason(copy)] : []));
  const distinct = new Map(reasons.map((reason) => [`${reason.code} ${reason.detail}`, reason]));
  return [...distinct.values()].slice(0, MAX_REASONS);
}

/** A failed check says what it printed last. */
function toReason({ why, check }: SideCopy): RegressedTask["reasons"][number] {
  const { code = "", text = "" } = why ?? {};
  const printed = code === "check-failed" ? (check?.tail.trim() ?? "") : "";
  return { code, detail: printed === "" ? firstBytes(text, REASON_BYTES) : lastBytes(printed, REASON_BYTES) };
}
