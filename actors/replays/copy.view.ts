import type { Money } from "../money.js";
import type { CheckView, CopyView, JudgeView, ListedCopyView, PairView } from "./copy-schemas.js";
import type { ReplayCopyRow } from "./replay-copy.table.js";

/** A copy with what else is shown of it. */
export interface CopyParts {
  readonly copy: ReplayCopyRow;
  /** The task's. */
  readonly title: string;
  readonly check: CheckView | null;
  readonly judge: JudgeView;
  readonly secondJudge: JudgeView | null;
  readonly rejudgingSpent: Money | null;
  readonly recheck: CheckView | null;
  readonly pair: PairView | null;
  readonly pairingSpent: Money | null;
}

/** The copy with outputs, reasons and claims, as they were given. */
export function copyView({ copy, title, ...parts }: CopyParts): CopyView {
  const { runId, originalRunId, taskId, repeat, state, result, why, outcome } = copy;
  const { spent, priced, steps, ms, toolMisses } = copy;
  return {
    ...{
      runId,
      originalRunId,
      taskId,
      title,
      repeat,
      state,
      result,
      why,
      outcome,
      spent,
      priced,
      steps,
      ms,
      toolMisses,
    },
    ...parts,
  };
}

/** The copy in lists of replays and on the stream: without outputs, reasons and claims. */
export function listedCopyView(parts: CopyParts): ListedCopyView {
  const { check, judge, secondJudge, recheck, pair, ...rest } = copyView(parts);
  return {
    ...rest,
    check: listedCheck(check),
    judge: listedJudge(judge),
    secondJudge: secondJudge === null ? null : listedJudge(secondJudge),
    recheck: listedCheck(recheck),
    pair: pair === null ? null : { ...pair, readings: pair.readings?.map(listedReading) ?? null },
  };
}

function listedCheck(check: CheckView | null): ListedCopyView["check"] {
  return check === null ? null : { passed: check.passed, exitCode: check.exitCode };
}

function listedJudge({ claims: _claims, reasons: _reasons, ...judge }: JudgeView): ListedCopyView["judge"] {
  return judge;
}

function listedReading({ ownShownFirst, outcome }: NonNullable<PairView["readings"]>[number]) {
  return { ownShownFirst, outcome };
}
