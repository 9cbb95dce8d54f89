/**
 * The questions of a replay to the model: in which order they are asked, how many at a time, and what they count. Owns
 * the replay's judging row; what is asked, and what an answer means, is in `verdicts.ts` and `pairs.ts`.
 *
 * 1. At most {@link MAX_ASKED} questions of a replay are stored at a time, those that wait for the model included.
 * 2. A question counts its estimate from when it is asked until its usage is known, and its cost from then on.
 * 3. An outcome is taken in one turn, with all that follows from it.
 * 4. A turn makes at most one question, since that reads whole diffs; the next are made in turns of their own.
 * 5. What has no room under the ceiling is given up only while no question of the replay is under way: those may cost
 *    less than their estimates.
 */
import type { EffectEnded } from "../../../runtime/turn.js";
import { MAX_ANSWER_TOKENS } from "../../judging/prompt.js";
import { addMoney, type Money } from "../../money.js";
import { modelLane } from "../../outbound/lanes.js";
import { askModel, type ModelOutcome } from "../../outbound/model.effects.js";
import type { ModelAsking } from "../../outbound/model-asking.js";
import { findPurseLeft } from "../replay-purse.js";
import { changeReplay, getReplay, type JudgingScene, type PreparedQuestion } from "./judging-scene.js";
import { estimateCost } from "./model-terms.js";
import { preparePair, refusePair, takeReading } from "./pairs.js";
import { type AskedLook, type Look, type ReplayJudgingRow, replayJudgings } from "./replay-judging.table.js";
import { hasRoom, recount } from "./spending.js";
import { prepareVerdict, refuseVerdict, takeVerdict } from "./verdicts.js";

/** Most questions of a replay that are under way or wait for the model: as many as a workspace has places for. */
export const MAX_ASKED = modelLane.perParty;
/** Most questions that one turn makes or asks again. */
const MADE_IN_TURN = 1;
/** Most looks of which one turn finds out that nothing is asked about them. */
const SKIPPED_IN_TURN = 25;

/** The wake-up of a replay's judging. */
export const JUDGING_WAKE = "judging";

/** The result of a question to the model, as it arrives. */
export type QuestionEnded = EffectEnded<ModelOutcome>;

/** Has the model asked about copies, after all that is wanted already. */
export function wantLooks(scene: JudgingScene, looks: readonly Look[]): void {
  const row = readRow(scene);
  writeRow(scene, { ...row, wanted: [...row.wanted, ...looks] });
  goOn(scene);
}

/** Takes the outcome of a question. One that was dropped meanwhile is none of the replay's. */
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

/** Asks again what was to wait until now, and then what is wanted. */
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

/** Drops all questions, and says what about: their answers are not taken any more. What they count stays counted. */
export function dropLooks(scene: Pick<JudgingScene, "turn" | "replayId">): readonly Look[] {
  const { turn, replayId } = scene;
  const { wanted, asked } = readRow(scene);
  for (const { askAtMs, questionId } of asked) if (askAtMs === null) turn.cancelEffect(questionId);
  turn.cancelWake(JUDGING_WAKE);
  replayJudgings.remove(turn, turn.self.partition, replayId);
  return [...asked, ...wanted];
}

/** Whether nothing is asked, nor to be asked. */
export function areLooksOver(scene: JudgingScene): boolean {
  const { wanted, asked } = readRow(scene);
  return wanted.length === 0 && asked.length === 0;
}

/** Since when a question has waited for the model, in milliseconds since the epoch; null when none waits. */
export function findWaitingSinceMs(scene: JudgingScene): number | null {
  const { asked } = readRow(scene);
  const since = asked.flatMap(({ askAtMs, asking }) => (askAtMs === null ? [] : [asking.sinceMs]));
  return since.length === 0 ? null : Math.min(...since);
}

/** `made`: a question was made, and asked if there was room for it. `rests`: there is nothing more to do for now. */
type Step = "made" | "skipped" | "rests";

/** Asks again one question whose time has come; null when there is none. */
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

/** Asks the next question, if there is room for it. */
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
  if (!hasRoomFor(scene, prepared)) return asked.length > 0 ? "rests" : skip(scene, next, rest);
  ask(scene, next, { prepared, mark, asking: { sinceMs: downSinceMs ?? turn.now, waits: 0 } });
  return "made";
}

/** Gives up what has no room: a pair by itself, of second judgings all that are left. */
function skip(scene: JudgingScene, next: Look, rest: readonly Look[]): Step {
  const none = { code: "budget", text: "The ceiling has no room for another judging." } as const;
  const given = next.look === "pair" ? [next] : [next, ...rest];
  for (const look of given) {
    if (look.look === "pair") refusePair(scene, look, "budget");
    else refuseVerdict(scene, look, none);
  }
  writeRow(scene, { ...readRow(scene), wanted: next.look === "pair" ? rest : [] });
  return "made";
}

/** The question about a copy; null when nothing is asked about it, which its row says then. */
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
  const estimate = countOf(scene, prepared);
  changeReplay(scene, (replay) => recount(replay, null, estimate));
  const isOther = (each: Look): boolean => each.look !== look.look || each.place !== place || each.repeat !== repeat;
  const { wanted, asked, downSinceMs } = readRow(scene);
  const question = { questionId, place, repeat, ...of, mark, asking, askAtMs: null, estimate };
  const others = asked.filter(isOther);
  writeRow(scene, { wanted: wanted.filter(isOther), asked: [...others, question], downSinceMs });
}

function hasRoomFor(scene: JudgingScene, prepared: PreparedQuestion): boolean {
  const { needs } = prepared;
  const replay = getReplay(scene);
  return hasRoom(
    replay,
    needs === "estimates" ? estimateOf(scene, prepared) : needs,
    findPurseLeft(scene.turn, replay),
  );
}

function estimateOf({ terms }: JudgingScene, { messages, model, estimates }: PreparedQuestion): Money | null {
  const estimate = terms === null ? null : estimateCost(terms, { messages, model });
  return estimate === null || estimates === 1 ? estimate : addMoney(estimate, estimate);
}

/** What a question counts while it is under way: a second judging no less than the first cost. */
function countOf(scene: JudgingScene, prepared: PreparedQuestion): Money | null {
  const { needs } = prepared;
  const estimate = estimateOf(scene, prepared);
  if (estimate === null || needs === null || needs === "estimates" || needs.currency !== estimate.currency)
    return estimate;
  return needs.amount > estimate.amount ? needs : estimate;
}

/** The outcome of a question whose effect failed, which nothing but a fault makes it do: it counts its estimate. */
function toLost({ estimate }: AskedLook): ModelOutcome {
  const spent = { calls: 1, cost: estimate, isEstimate: true };
  return { state: "failed", code: "refused", reason: "the question could not be asked", spent };
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
