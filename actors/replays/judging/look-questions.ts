/**
 * A replay's questions to the model: their order, how many are asked at a time, and how much they count against the
 * ceiling. This file owns the replay's judging row. `verdicts.ts` and `pairs.ts` write the questions and interpret the
 * answers.
 *
 * 1. A replay stores at most {@link MAX_ASKED} questions at a time, including questions that wait for the model.
 * 2. While a question's usage is unknown, the question's estimate counts against the ceiling. Afterwards, its cost
 *   counts. If a crash loses an answer, the estimate still counts, and the question is asked again.
 * 3. One turn applies an outcome with all its consequences.
 * 4. A turn prepares at most one question, because preparing a question reads whole diffs. Later turns prepare the
 *   next questions.
 * 5. A question that does not fit under the ceiling is given up only when the replay has no other question in
 *   progress or waiting. Other questions may cost less than their estimates, and so free budget.
 */
import type { EffectEnded } from "../../../runtime/turns/turn.js";
import { MAX_ANSWER_TOKENS } from "../../judging/prompt.js";
import { addMoney, type Money } from "../../money.js";
import { modelLane } from "../../outbound/http/lanes.js";
import { askModel, type ModelOutcome } from "../../outbound/models/model.effects.js";
import type { ModelAsking } from "../../outbound/models/model-asking.js";
import { findBudgetLeft } from "../budget/search-budget.js";
import { changeReplay, getReplay, type JudgingScene, type PreparedQuestion } from "./judging-scene.js";
import { estimateCost } from "./model-terms.js";
import { preparePair, refusePair, takeReading } from "./pairs.js";
import { type AskedLook, type Look, type ReplayJudgingRow, replayJudgings } from "./replay-judging.table.js";
import { fitsBudget, recount } from "./spending.js";
import { prepareVerdict, refuseVerdict, takeVerdict } from "./verdicts.js";

/**
 * Maximum number of a replay's questions that are in progress or wait for the model: a workspace's limit of concurrent
 * requests.
 */
export const MAX_ASKED = modelLane.perClient;
/** Maximum number of questions that one turn prepares or asks again. */
const MADE_IN_TURN = 1;
/** Maximum number of copies that one turn skips because they need no question. */
const SKIPPED_IN_TURN = 25;

/** Name of the wake-up for a replay's judging. */
export const JUDGING_WAKE = "judging";

/** The message about the end of a question to the model, with the outcome. */
export type QuestionEnded = EffectEnded<ModelOutcome>;

/** Adds requests to the end of the row's `wanted` list, and asks the next question. */
export function wantLooks(scene: JudgingScene, looks: readonly Look[]): void {
  const row = readRow(scene);
  writeRow(scene, { ...row, wanted: [...row.wanted, ...looks] });
  goOn(scene);
}

/** Applies a question's outcome. Ignores the outcome of a question that was dropped in the meantime. */
export function takeEnded(scene: JudgingScene, { id, result }: QuestionEnded): void {
  const asked = readRow(scene).asked.find(({ questionId, askAtMs }) => questionId === id && askAtMs === null);
  if (asked === undefined) return;
  const outcome = result.ok ? result.output : toLost(asked);
  changeReplay(scene, (replay) => recount(replay, asked.estimate, outcome.spent.cost));
  const after = asked.look === "pair" ? takeReading(scene, asked, outcome) : takeVerdict(scene, asked, outcome);
  const row = readRow(scene);
  const others = row.asked.filter(({ questionId }) => questionId !== id);
  const isDown = outcome.state === "waiting";
  const isAnswered = outcome.state === "answered" || outcome.state === "failed";
  const downSinceMs = isDown ? (row.downSinceMs ?? asked.asking.sinceMs) : isAnswered ? null : row.downSinceMs;
  if (after.state === "waiting") {
    const { askAtMs, asking } = after;
    writeRow(scene, { ...row, asked: [...others, { ...asked, askAtMs, asking, estimate: null }], downSinceMs });
  } else {
    const wanted = after.state === "next" ? [toLook(asked), ...row.wanted] : row.wanted;
    writeRow(scene, { ...row, wanted, asked: others, downSinceMs });
  }
  goOn(scene);
}

/**
 * Asks one question: a question whose wait has ended, or else the question for the next request. Sets the wake-up for
 * the questions that remain.
 */
export function goOn(scene: JudgingScene): void {
  const { turn } = scene;
  let step: Step = "made";
  for (let made = 0, skipped = 0; made < MADE_IN_TURN && skipped < SKIPPED_IN_TURN; ) {
    step = askDue(scene) ?? askNext(scene);
    if (step === "rests") break;
    if (step === "made") made += 1;
    else skipped += 1;
  }
  const waiting = readRow(scene).asked.flatMap(({ askAtMs }) => askAtMs ?? []);
  if (step !== "rests") turn.wake(JUDGING_WAKE, turn.now);
  else if (waiting.length > 0) turn.wake(JUDGING_WAKE, Math.min(...waiting));
  else turn.cancelWake(JUDGING_WAKE);
}

/**
 * Drops all questions, and all requests that have no question yet. Returns the requests for both. Later answers are
 * ignored. Amounts that already count stay counted.
 */
export function dropLooks(scene: Pick<JudgingScene, "turn" | "replayId">): readonly Look[] {
  const { turn, replayId } = scene;
  const { wanted, asked } = readRow(scene);
  for (const { askAtMs, questionId } of asked) if (askAtMs === null) turn.cancelEffect(questionId);
  turn.cancelWake(JUDGING_WAKE);
  replayJudgings.remove(turn, turn.self.partition, replayId);
  return [...asked, ...wanted];
}

/** Whether no question is in progress and none remains to be asked. */
export function areLooksOver(scene: JudgingScene): boolean {
  const { wanted, asked } = readRow(scene);
  return wanted.length === 0 && asked.length === 0;
}

/**
 * Returns when the earliest waiting question started to wait for the model, in milliseconds since the epoch; null if no
 * question waits.
 */
export function findWaitingSinceMs(scene: JudgingScene): number | null {
  const { asked } = readRow(scene);
  const since = asked.flatMap(({ askAtMs, asking }) => (askAtMs === null ? [] : [asking.sinceMs]));
  return since.length === 0 ? null : Math.min(...since);
}

/**
 * `made`: a question was prepared, and was asked if it fit under the ceiling. `skipped`: the request needed no
 * question. `rests`: there is nothing more to do for now.
 */
type Step = "made" | "skipped" | "rests";

/** Asks again one question that is due; null if none is due. */
function askDue(scene: JudgingScene): Step | null {
  const due = readRow(scene).asked.find(({ askAtMs }) => askAtMs !== null && askAtMs <= scene.turn.now);
  if (due === undefined) return null;
  const { mark, asking } = due;
  const prepared = prepare(scene, due, mark);
  if (prepared === null) {
    const row = readRow(scene);
    writeRow(scene, { ...row, asked: row.asked.filter(({ questionId }) => questionId !== due.questionId) });
    return "skipped";
  }
  ask(scene, due, { prepared, mark, asking });
  return "made";
}

/** Asks the next question, if it fits under the ceiling. */
function askNext(scene: JudgingScene): Step {
  const { turn } = scene;
  const { wanted, asked, downSinceMs } = readRow(scene);
  const [next, ...rest] = wanted;
  if (next === undefined || asked.length >= MAX_ASKED) return "rests";
  const mark = Buffer.from(turn.randomBytes(16)).toString("hex");
  const prepared = prepare(scene, next, mark);
  if (prepared === null) {
    writeRow(scene, { ...readRow(scene), wanted: rest });
    return "skipped";
  }
  if (!canAfford(scene, prepared)) return asked.length > 0 ? "rests" : skip(scene, next, rest);
  ask(scene, next, { prepared, mark, asking: { sinceMs: downSinceMs ?? turn.now, waits: 0 } });
  return "made";
}

/**
 * Gives up a request that does not fit under the ceiling. If the request is for a second judging, also gives up all
 * remaining requests.
 */
function skip(scene: JudgingScene, next: Look, rest: readonly Look[]): Step {
  const none = { code: "budget", text: "The rest of the ceiling is too small for another judging." } as const;
  const given = next.look === "pair" ? [next] : [next, ...rest];
  for (const look of given) {
    if (look.look === "pair") refusePair(scene, look, "budget");
    else refuseVerdict(scene, look, none);
  }
  writeRow(scene, { ...readRow(scene), wanted: next.look === "pair" ? rest : [] });
  return "made";
}

/**
 * Prepares the question about a copy. Returns null if no question is needed; the row of the pair or verdict then has
 * the result.
 */
function prepare(scene: JudgingScene, look: Look, mark: string): PreparedQuestion | null {
  return look.look === "pair" ? preparePair(scene, look, mark) : prepareVerdict(scene, look, mark);
}

interface Asking {
  readonly prepared: PreparedQuestion;
  readonly mark: string;
  readonly asking: ModelAsking;
}

function ask(scene: JudgingScene, look: Look, { prepared, mark, asking }: Asking): void {
  const { messages, schema, model, of } = prepared;
  const { place, repeat } = look;
  const questionId = scene.turn.newId("ask");
  scene.turn.start(askModel(messages, schema, { id: questionId, model, maxTokens: MAX_ANSWER_TOKENS }));
  const estimate = findCount(scene, prepared);
  changeReplay(scene, (replay) => recount(replay, null, estimate));
  const isOther = (each: Look): boolean => each.look !== look.look || each.place !== place || each.repeat !== repeat;
  const { wanted, asked, downSinceMs } = readRow(scene);
  const question = { questionId, place, repeat, ...of, mark, asking, askAtMs: null, estimate };
  const others = asked.filter(isOther);
  writeRow(scene, { wanted: wanted.filter(isOther), asked: [...others, question], downSinceMs });
}

function canAfford(scene: JudgingScene, prepared: PreparedQuestion): boolean {
  const { needs } = prepared;
  const replay = getReplay(scene);
  return fitsBudget(
    replay,
    needs === "estimates" ? findEstimate(scene, prepared) : needs,
    findBudgetLeft(scene.turn, replay),
  );
}

function findEstimate({ terms }: JudgingScene, { messages, model, estimates }: PreparedQuestion): Money | null {
  const estimate = terms === null ? null : estimateCost(terms, { messages, model });
  return estimate === null || estimates === 1 ? estimate : addMoney(estimate, estimate);
}

/**
 * Returns the amount that counts against the ceiling while a question is in progress. Normally, this is the question's
 * estimate. For a second judging, it is the cost of the first judging if that cost is higher. Returns null if there is
 * no estimate.
 */
function findCount(scene: JudgingScene, prepared: PreparedQuestion): Money | null {
  const { needs } = prepared;
  const estimate = findEstimate(scene, prepared);
  if (estimate === null || needs === null || needs === "estimates" || needs.currency !== estimate.currency)
    return estimate;
  return needs.amount > estimate.amount ? needs : estimate;
}

/**
 * Returns the outcome of a question whose effect failed. Only a fault of the service makes the effect fail. The
 * question's estimate counts as its cost.
 */
function toLost({ estimate }: AskedLook): ModelOutcome {
  const spent = { calls: 1, cost: estimate, isEstimate: true };
  return { state: "failed", code: "refused", reason: "the question could not be sent", spent };
}

function toLook(asked: AskedLook): Look {
  const { place, repeat } = asked;
  return asked.look === "pair" ? { look: asked.look, place, repeat } : { look: asked.look, place, repeat };
}

function readRow({ turn, replayId }: Pick<JudgingScene, "turn" | "replayId">): ReplayJudgingRow {
  return replayJudgings.get(turn, turn.self.partition, replayId) ?? { wanted: [], asked: [], downSinceMs: null };
}

function writeRow({ turn, replayId }: JudgingScene, row: ReplayJudgingRow): void {
  const isEmpty = row.wanted.length === 0 && row.asked.length === 0;
  if (isEmpty) replayJudgings.remove(turn, turn.self.partition, replayId);
  else replayJudgings.put(turn, turn.self.partition, replayId, row);
}
