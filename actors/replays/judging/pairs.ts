import type { Turn } from "../../../runtime/turns/turn.js";
import type { Reading } from "../../../storage/store.js";
import { type PairSide, planPair, toOpponent, toPairOutcome, type Unpaired } from "../../judging/pair.js";
import { type PairedWork, pairQuestion, readPairing } from "../../judging/pair-question.js";
import { PROMPT_VERSION } from "../../judging/prompt.js";
import type { Judge } from "../../judging/scales.js";
import type { JudgedCheck } from "../../judging/shown-work.js";
import type { ModelOutcome } from "../../outbound/models/model.effects.js";
import { continueAsking } from "../../outbound/models/model-asking.js";
import { isSettled, listCopies, replayCopies } from "../copies/replay-copy.table.js";
import type { ReplayCopyRow } from "../replay/replay.js";
import { replays } from "../replay/replay.table.js";
import { replayInputs } from "../replay/replay-input.table.js";
import { readOwnChange, readRunCheck, readTask } from "./judged-work.js";
import {
  type AfterOutcome,
  findJudge,
  getCopy,
  getJudge,
  getReplay,
  getRunId,
  type JudgingScene,
  type PreparedQuestion,
} from "./judging-scene.js";
import type { AskedReading, PairLook } from "./replay-judging.table.js";
import { type ReplayPairRow, replayPairs } from "./replay-pair.table.js";
import type { CopyKey } from "./replay-verdict.table.js";
import { addAsking, NOTHING_SPENT } from "./spending.js";
import { storeReasons } from "./stored-reasons.js";

/** Records that a copy is to be compared with a copy of the paired replay. */
export function insertPair(turn: Turn, key: CopyKey): void {
  const open = { againstRunId: null, outcome: null, unpaired: null, model: null, promptVersion: null, readings: [] };
  replayPairs.insert(turn, turn.self.partition, { ...key, ...open, state: "asked", spent: NOTHING_SPENT });
}

/**
 * Prepares the question for the next reading of a pair. Returns null if no reading is needed; the pair's row then has
 * the result.
 */
export function preparePair(scene: JudgingScene, look: PairLook, mark: string): PreparedQuestion | null {
  const { turn } = scene;
  const { readings, model } = getPair(scene, look);
  const isFirst = readings.length === 0;
  const sides = readSides(scene, look);
  if (isFirst && isPlanned(scene, look, sides)) return null;
  const { own, theirs } = sides;
  const judge = getJudge(scene);
  const task = readTask(turn, turn.self.partition, getRunId(getCopy(scene, look)));
  const pairing = { judge, task, own: toWork(own), theirs: toWork(theirs) };
  const { messages, schema, shown } = pairQuestion(pairing, { mark, ownShownFirst: isFirst });
  const of = { look: look.look, shown };
  return {
    messages,
    schema,
    of,
    model: model ?? judge.model,
    estimates: isFirst ? 2 : 1,
    needs: isFirst ? "estimates" : null,
  };
}

/** Applies the outcome of a reading's question. */
export function takeReading(scene: JudgingScene, asked: AskedReading, outcome: ModelOutcome): AfterOutcome {
  const { turn } = scene;
  const before = getPair(scene, asked);
  putPair(scene, before, { spent: addAsking(before.spent, outcome.spent) });
  const next = continueAsking(asked.asking, outcome, {
    nowMs: turn.now,
    read: (value, model) => {
      const reading = readPairing(asked.shown, value);
      return reading === null ? null : { reading, model };
    },
  });
  if (next.state === "waiting") return next;
  if (next.state === "failed") {
    refusePair(scene, asked, next.code === "not-set-up" ? "not-set-up" : "not-judged");
    return { state: "over" };
  }
  const { reading, model } = next.answer;
  const stored = { ...reading, reasons: storeReasons(turn, turn.self.partition, reading.reasons) };
  const row = getPair(scene, asked);
  const [first] = row.readings;
  const readings = [...row.readings, stored];
  putPair(scene, row, { readings, model, promptVersion: PROMPT_VERSION });
  if (first === undefined) return { state: "next" };
  putPair(scene, getPair(scene, asked), { state: "judged", outcome: toPairOutcome([first, stored]) });
  return { state: "over" };
}

/** Records that a pair is not compared, and why. */
export function refusePair(scene: JudgingScene, look: PairLook, unpaired: Unpaired): void {
  putPair(scene, getPair(scene, look), { state: "unpaired", unpaired });
}

interface Side extends PairSide {
  readonly check: JudgedCheck | null;
  readonly runId: string | null;
}

interface Sides {
  readonly own: Side;
  readonly theirs: Side;
}

/**
 * Whether the pair's result is known without a reading. Records the other copy's run, and the result if it is known.
 */
function isPlanned(scene: JudgingScene, look: PairLook, { own, theirs }: Sides): boolean {
  const { runId: againstRunId } = theirs;
  const plan = planPair(own, theirs, { isSetUp: scene.terms !== null, hasRoom: true });
  putPair(scene, getPair(scene, look), { againstRunId });
  if (plan.state === "unpaired") refusePair(scene, look, plan.unpaired);
  if (plan.state === "judged") putPair(scene, getPair(scene, look), { state: "judged", outcome: plan.outcome });
  return plan.state !== "asked";
}

/** Reads both sides of a pair. Reads changes only if a reading may need them. */
function readSides(scene: JudgingScene, look: PairLook): Sides {
  const { turn } = scene;
  const workspaceId = turn.self.partition;
  const judge = findJudge(scene);
  const copy = getCopy(scene, look);
  const theirId = getReplay(scene).pairedWith ?? "";
  // A removed replay has no copies, so its judge does not matter.
  const theirJudge = replayInputs.get(turn, workspaceId, theirId)?.config.station.judge;
  const readsChanges = scene.terms !== null && judge !== null && theirJudge !== null;
  const reader = { reading: turn, workspaceId };
  const opponent = findOpponent(scene, copy, theirId);
  const theirs = readSide({ ...reader, readsChanges }, theirJudge === undefined ? judge : theirJudge, opponent);
  // If the other copy has no change, no reading takes place, so do not read this copy's change.
  return { own: readSide({ ...reader, readsChanges: theirs.change !== null }, judge, copy), theirs };
}

interface SideReader {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly readsChanges: boolean;
}

function readSide(
  { reading, workspaceId, readsChanges }: SideReader,
  judge: Judge | null,
  copy: ReplayCopyRow | undefined,
): Side {
  const runId = copy?.runId ?? null;
  const hasSettled = copy !== undefined && isSettled(copy);
  if (!readsChanges || runId === null || !hasSettled) {
    return { judge, isSettled: hasSettled, change: null, check: null, runId };
  }
  const change = readOwnChange(reading, workspaceId, runId);
  return { judge, isSettled: true, change, check: readRunCheck(reading, workspaceId, runId), runId };
}

/**
 * Finds the other replay's copy of the same original run; undefined if there is none. {@link toOpponent} determines the
 * `repeat` of the other copy. Both copies have the same place, unless the run was removed from the set and added again
 * between the replays.
 */
function findOpponent(
  { turn }: JudgingScene,
  { originalRunId, repeat, place }: ReplayCopyRow,
  theirId: string,
): ReplayCopyRow | undefined {
  const { partition } = turn.self;
  const their = replays.get(turn, partition, theirId);
  if (their === undefined) return undefined;
  const opponent = toOpponent(repeat, their.repeats);
  const beside = replayCopies.get(turn, partition, theirId, place, opponent);
  if (beside?.originalRunId === originalRunId) return beside;
  const copies = listCopies(turn, partition, theirId);
  return copies.find((copy) => copy.originalRunId === originalRunId && copy.repeat === opponent);
}

function toWork({ change, check }: Side): PairedWork {
  return { change: change ?? [], check };
}

function getPair({ turn, replayId }: JudgingScene, { place, repeat }: PairLook): ReplayPairRow {
  const row = replayPairs.get(turn, turn.self.partition, replayId, place, repeat);
  if (row === undefined) throw new Error("a pair without its row");
  return row;
}

function putPair({ turn }: JudgingScene, before: ReplayPairRow, change: Partial<ReplayPairRow>): void {
  replayPairs.put(turn, turn.self.partition, before, { ...before, ...change });
}
