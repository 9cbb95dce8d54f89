import { boundMoney, type Money } from "../money.js";
import type { CheckView, CopyView, JudgeView, ListedCopyView, PairView } from "./copy-schemas.js";
import type { ReplayCopyRow } from "./replay.js";

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

/**
 * The copy with outputs, reasons and claims, as they were given. Written out, as a replay has 250: objects made of others'
 * members cost several times as much.
 */
export function copyView(parts: CopyParts): CopyView {
  const { copy } = parts;
  return {
    runId: copy.runId,
    originalRunId: copy.originalRunId,
    taskId: copy.taskId,
    title: parts.title,
    repeat: copy.repeat,
    state: copy.state,
    result: copy.result,
    why: copy.why,
    outcome: copy.outcome,
    check: parts.check,
    judge: parts.judge,
    secondJudge: parts.secondJudge,
    rejudgingSpent: parts.rejudgingSpent,
    recheck: parts.recheck,
    pair: parts.pair,
    pairingSpent: parts.pairingSpent,
    spent: boundMoney(copy.spent),
    priced: copy.priced,
    steps: copy.steps,
    ms: copy.ms,
    toolMisses: copy.toolMisses,
  };
}

/** The copy in lists of replays and on the stream: without outputs, reasons and claims. */
export function listedCopyView(parts: CopyParts): ListedCopyView {
  const { copy, pair, secondJudge } = parts;
  return {
    runId: copy.runId,
    originalRunId: copy.originalRunId,
    taskId: copy.taskId,
    title: parts.title,
    repeat: copy.repeat,
    state: copy.state,
    result: copy.result,
    why: copy.why,
    outcome: copy.outcome,
    check: listedCheck(parts.check),
    judge: listedJudge(parts.judge),
    secondJudge: secondJudge === null ? null : listedJudge(secondJudge),
    rejudgingSpent: parts.rejudgingSpent,
    recheck: listedCheck(parts.recheck),
    pair: pair === null ? null : { ...pair, readings: pair.readings?.map(listedReading) ?? null },
    pairingSpent: parts.pairingSpent,
    spent: boundMoney(copy.spent),
    priced: copy.priced,
    steps: copy.steps,
    ms: copy.ms,
    toolMisses: copy.toolMisses,
  };
}

function listedCheck(check: CheckView | null): ListedCopyView["check"] {
  return check === null ? null : { passed: check.passed, exitCode: check.exitCode };
}

function listedJudge(judge: JudgeView): ListedCopyView["judge"] {
  const { scale, passed, score, marks, passShare, model, promptVersion, cut } = judge;
  return { scale, passed, score, marks, passShare, model, promptVersion, cut };
}

function listedReading({ ownShownFirst, outcome }: NonNullable<PairView["readings"]>[number]) {
  return { ownShownFirst, outcome };
}
