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

/** What is shown of a copy with its texts, or without. */
interface Looks<Check, Judge, Pair> {
  readonly check: Check;
  readonly judge: Judge;
  readonly secondJudge: Judge | null;
  readonly recheck: Check;
  readonly pair: Pair;
}

/** The copy with outputs, reasons and claims, as they were given. */
export function copyView(parts: CopyParts): CopyView {
  return toView(parts, parts);
}

/** The copy in lists of replays and on the stream: without outputs, reasons and claims. */
export function listedCopyView(parts: CopyParts): ListedCopyView {
  const { check, judge, secondJudge, recheck, pair } = parts;
  return toView(parts, {
    check: listedCheck(check),
    judge: listedJudge(judge),
    secondJudge: secondJudge === null ? null : listedJudge(secondJudge),
    recheck: listedCheck(recheck),
    pair: pair === null ? null : { ...pair, readings: pair.readings?.map(listedReading) ?? null },
  });
}

/** Written out, as a replay has 250: objects made of others' members cost several times as much. */
function toView<Check, Judge, Pair>(parts: CopyParts, looks: Looks<Check, Judge, Pair>) {
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
    check: looks.check,
    judge: looks.judge,
    secondJudge: looks.secondJudge,
    rejudgingSpent: parts.rejudgingSpent,
    recheck: looks.recheck,
    pair: looks.pair,
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
