import { boundMoney, type Money } from "../../money.js";
import type { ReplayCopyRow } from "../replay/replay.js";
import type { CheckView, CopyView, JudgeView, ListedCopyView, PairView } from "./copy-schemas.js";

/** A copy with the other data that its view shows. */
export interface CopyParts {
  readonly copy: ReplayCopyRow;
  /** The title of the task. */
  readonly title: string;
  readonly check: CheckView | null;
  readonly judge: JudgeView;
  readonly secondJudge: JudgeView | null;
  readonly rejudgingSpent: Money | null;
  readonly recheck: CheckView | null;
  readonly pair: PairView | null;
  readonly pairingSpent: Money | null;
}

/** The views of a copy's checks and judgings, with or without their texts. */
interface Looks<Check, Judge, Pair> {
  readonly check: Check;
  readonly judge: Judge;
  readonly secondJudge: Judge | null;
  readonly recheck: Check;
  readonly pair: Pair;
}

/** Shows the copy with its outputs, reasons and claims. */
export function copyView(parts: CopyParts): CopyView {
  return toView(parts, parts);
}

/** Shows the copy for lists of replays and for the stream: without outputs, reasons and claims. */
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

/** Lists each member explicitly: a replay has up to 250 copies, and spreading objects costs several times as much. */
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
