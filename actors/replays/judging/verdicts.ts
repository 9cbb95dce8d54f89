import type { Turn } from "../../../runtime/turns/turn.js";
import { judgeQuestion } from "../../judging/judge-question.js";
import { type JudgeVerdict, readVerdict } from "../../judging/verdict.js";
import { addMoney, type Money } from "../../money.js";
import type { ModelOutcome } from "../../outbound/models/model.effects.js";
import { continueAsking } from "../../outbound/models/model-asking.js";
import { replayCopies } from "../copies/replay-copy.table.js";
import type { ReplayCopyRow, ReplayRow } from "../replay/replay.js";
import { countChanges } from "../replay/replay-step.js";
import { readJudgedWork } from "./judged-work.js";
import {
  type AfterOutcome,
  changeReplay,
  getCopy,
  getJudge,
  getReplay,
  getRunId,
  type JudgingScene,
  type PreparedQuestion,
} from "./judging-scene.js";
import type { AskedVerdict, VerdictLook } from "./replay-judging.table.js";
import {
  type CopyKey,
  type ReplayVerdictRow,
  replayVerdicts,
  type StoredVerdict,
  type WhichJudging,
} from "./replay-verdict.table.js";
import { addAsking, NOTHING_SPENT, recount } from "./spending.js";
import { storeReasons } from "./stored-reasons.js";

/** Records that a copy is to be judged. */
export function insertVerdict(turn: Turn, key: CopyKey, which: WhichJudging): void {
  const row: ReplayVerdictRow = { ...key, which, state: "asked", verdict: null, none: null, spent: NOTHING_SPENT };
  replayVerdicts.insert(turn, turn.self.partition, row);
}

/**
 * Prepares the question for a judging. If no model is configured, records that there is no verdict, and returns null.
 */
export function prepareVerdict(scene: JudgingScene, look: VerdictLook, mark: string): PreparedQuestion | null {
  if (scene.terms === null) {
    refuseVerdict(scene, look, { code: "not-set-up", text: "No model is configured for judging." });
    return null;
  }
  const isSecond = look.look === "second";
  const { turn } = scene;
  const judge = getJudge(scene);
  const work = readJudgedWork(turn, turn.self.partition, getRunId(getCopy(scene, look)));
  const { messages, schema, shown } = judgeQuestion(judge, work, { mark, isSecond });
  const of = { look: look.look, shown };
  const needs = isSecond ? getVerdict(scene, { ...look, look: "first" }).spent.cost : null;
  return { messages, schema, of, model: judge.model, estimates: 1, needs };
}

/** Applies the outcome of a judging's question. */
export function takeVerdict(scene: JudgingScene, asked: AskedVerdict, outcome: ModelOutcome): AfterOutcome {
  const { turn } = scene;
  const before = getVerdict(scene, asked);
  const spent = addAsking(before.spent, outcome.spent);
  replayVerdicts.put(turn, turn.self.partition, before, { ...before, spent });
  const judge = getJudge(scene);
  const next = continueAsking(asked.asking, outcome, {
    nowMs: turn.now,
    read: (value, model) => readVerdict(judge, asked.shown, { value, model }),
  });
  if (next.state === "waiting") return next;
  if (next.state === "answered") {
    const verdict = toStored(scene, next.answer);
    endVerdict(scene, asked, { state: "judged", verdict });
  } else {
    refuseVerdict(scene, asked, { code: next.code, text: next.reason });
  }
  return { state: "over" };
}

/** Records that there is no verdict, and why. */
export function refuseVerdict(
  scene: JudgingScene,
  look: VerdictLook,
  none: NonNullable<ReplayVerdictRow["none"]>,
): void {
  endVerdict(scene, look, { state: "none", none });
}

function endVerdict(scene: JudgingScene, look: VerdictLook, end: Partial<ReplayVerdictRow>): void {
  const { turn } = scene;
  const before = getVerdict(scene, look);
  const row = { ...before, ...end };
  replayVerdicts.put(turn, turn.self.partition, before, row);
  if (row.which === "first") decideCopy(scene, row);
}

function getVerdict({ turn, replayId }: JudgingScene, { place, repeat, look }: VerdictLook): ReplayVerdictRow {
  const row = replayVerdicts.get(turn, turn.self.partition, replayId, place, repeat, look);
  if (row === undefined) throw new Error("a judging without its row");
  return row;
}

function toStored(
  { turn }: JudgingScene,
  { reasons, claims: _claims, passShare: _passShare, ...verdict }: JudgeVerdict,
): StoredVerdict {
  return { ...verdict, reasons: storeReasons(turn, turn.self.partition, reasons) };
}

/** Gives a copy its result once its first judging ends, and adds the judging's cost to the copy's spending. */
function decideCopy(scene: JudgingScene, row: ReplayVerdictRow): void {
  const { turn } = scene;
  const before = getCopy(scene, row);
  const cost = toCopyCost(getReplay(scene), before, row.spent.cost);
  const spent = cost === null || before.spent === null ? (cost ?? before.spent) : addMoney(before.spent, cost);
  const after: ReplayCopyRow = { ...before, ...toResult(row), state: "judged", spent };
  replayCopies.put(turn, turn.self.partition, before, after);
  changeReplay(scene, (replay) => recount(countChanges(replay, [{ before, after }]), cost, null));
}

/**
 * Returns the cost of a first judging if the cost belongs to the copy's spending: the cost and the copy's spending must
 * be in the ceiling's currency. Otherwise returns null, and the cost counts among the replay's other spending.
 */
function toCopyCost({ ceiling }: ReplayRow, { spent }: ReplayCopyRow, cost: Money | null): Money | null {
  const { currency } = ceiling;
  return cost?.currency === currency && (spent ?? cost).currency === currency ? cost : null;
}

function toResult({ verdict, none }: ReplayVerdictRow): Pick<ReplayCopyRow, "result" | "why"> {
  if (verdict?.passed === true) return { result: "succeeded", why: null };
  if (verdict !== null) return { result: "failed", why: { code: "judge-failed", text: "The judge did not pass it." } };
  return { result: "unscored", why: none };
}
