import type { Reading } from "../../storage/store.js";
import { fromText } from "../fraction.js";
import type { InSteps } from "../in-steps.js";
import { type Money, toAmount } from "../money.js";
import { firstBytes, lastBytes } from "../replays/figures/excerpt.js";
import { replayVerdicts } from "../replays/judging/replay-verdict.table.js";
import { isUnderWay } from "../replays/replay/replay.table.js";
import { countSucceeded } from "../statistics/copy.js";
import { falseFailureChance } from "../statistics/false-failure.js";
import { findRegressions, type Regression } from "../statistics/regression.js";
import { successTotals } from "../statistics/success.js";
import type { ReplayCheckRow } from "./check.js";
import type { CheckResultRow } from "./check-result.table.js";
import type { RegressedTask, SideResult } from "./check-schemas.js";
import type { ReplaySide, ReplaySides, SideCopy } from "./check-sides.js";

/**
 * Computes a check's results from the current state of its replays. A replay that is gone counts as a replay without
 * copies.
 */
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
    taskId,
    originalRunId,
    title: titles.get(taskId) ?? "",
    candidate: candidate.map(({ result }) => result),
    baseline: baseline.map(({ result }) => result),
    scoreDelta,
  };
}

/** Maximum number of reasons for a regressed task, and maximum size of each in bytes. */
const MAX_REASONS = 5;
const REASON_BYTES = 500;

type Reasons = RegressedTask["reasons"];

/** Lists up to {@link MAX_REASONS} distinct reasons why copies failed, in the order of the copies. */
function listReasons(reading: Reading, workspaceId: string, copies: readonly SideCopy[]): Reasons {
  const failed = copies.filter(({ result }) => result === "failed");
  const reasons = failed.flatMap((copy) => collectReasons(reading, workspaceId, copy));
  const distinct = new Map(reasons.map((reason) => [`${reason.code} ${reason.detail}`, reason]));
  return [...distinct.values()].slice(0, MAX_REASONS);
}

/**
 * Returns why a copy failed: the judge's reasons, the end of the output of the station's check command, or the text of
 * `why`. Returns an empty array if `why` is null.
 */
function collectReasons(reading: Reading, workspaceId: string, copy: SideCopy): Reasons {
  if (copy.why === null) return [];
  const { code, text } = copy.why;
  if (code === "judge-failed") {
    const judged = judgedReasons(reading, workspaceId, copy);
    if (judged.length > 0) return judged.map((stated) => ({ code, detail: firstBytes(stated, REASON_BYTES) }));
  }
  const printed = code === "check-failed" ? (copy.check?.tail.trim() ?? "") : "";
  return [{ code, detail: printed === "" ? firstBytes(text, REASON_BYTES) : lastBytes(printed, REASON_BYTES) }];
}

/** Returns the judge's reasons, except those about claims that the judge marked as met. */
function judgedReasons(
  reading: Reading,
  workspaceId: string,
  { replayId, place, repeat }: SideCopy,
): readonly string[] {
  const verdict = replayVerdicts.get(reading, workspaceId, replayId, place, repeat, "first")?.verdict ?? null;
  const stated = verdict?.reasons.brief ?? [];
  return stated.filter(({ claim }) => claim === null || verdict?.marks?.[claim] !== true).map(({ text }) => text);
}
