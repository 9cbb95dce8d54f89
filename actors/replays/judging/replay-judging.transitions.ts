/** The judging transitions that the replay machine calls, each as part of a replay turn. */
import type { RunRow } from "../../runs/run.js";
import { listCopies } from "../copies/replay-copy.table.js";
import type { ReplayCopyRow, ReplayRow } from "../replay/replay.js";
import { replayRef } from "../replay/replay.messages.js";
import { isUnderWay, replays } from "../replay/replay.table.js";
import { changeReplay, getReplay, type JudgingScene } from "./judging-scene.js";
import {
  areLooksOver,
  dropLooks,
  findWaitingSinceMs,
  goOn,
  type QuestionEnded,
  takeEnded,
  wantLooks,
} from "./look-questions.js";
import { insertPair, refusePair } from "./pairs.js";
import { areRechecksOver, endRechecks, takeRecheckOver, wantRechecks } from "./rechecks.js";
import type { Look } from "./replay-judging.table.js";
import { replayPairs } from "./replay-pair.table.js";
import { findRecheckOfRun } from "./replay-recheck.table.js";
import { replayVerdicts } from "./replay-verdict.table.js";
import { insertVerdict, refuseVerdict } from "./verdicts.js";

/** Requests a verdict on a copy whose result depends on the judge. The copy gets its result when the judging ends. */
export function judgeCopy(scene: JudgingScene, { replayId, place, repeat }: ReplayCopyRow): void {
  insertVerdict(scene.turn, { replayId, place, repeat }, "first");
  wantLooks(scene, [{ look: "first", place, repeat }]);
  noteProgress(scene);
}

/** Applies the outcome of a question of the replay: the model's answer, or why there is no answer. */
export function takeAnswer(scene: JudgingScene, ended: QuestionEnded): void {
  takeEnded(scene, ended);
  noteProgress(scene);
}

/** Continues the judging after a wake-up. */
export function goOnJudging(scene: JudgingScene): void {
  goOn(scene);
  noteProgress(scene);
}

/**
 * Starts the judging that follows the replay's end. A finished replay that checks its set is judged and checked a
 * second time. A finished replay that is paired is compared with the other replay once both have ended. Also notifies
 * the finished replays that are paired with this replay.
 */
export function lookAfterEnd(scene: JudgingScene): void {
  const { turn } = scene;
  const { state, probe } = getReplay(scene);
  if (state === "finished" && probe) lookTwice(scene);
  pairUp(scene);
  for (const { id, state: theirs } of replays.all(turn, turn.self.partition, { pairedWith: scene.replayId })) {
    if (theirs === "finished") turn.send(replayRef(turn.self.partition, id), { type: "counterpart.ended" });
  }
  noteProgress(scene);
}

/** Starts the comparison when the paired replay has ended. */
export function takeCounterpartEnded(scene: JudgingScene): void {
  pairUp(scene);
  noteProgress(scene);
}

/** Applies the end of a second check's run. The run belongs to no copy. */
export function takeRecheckRunOver(scene: JudgingScene, run: RunRow): void {
  const { turn, replayId } = scene;
  const recheck = findRecheckOfRun(turn, turn.self.partition, { replayId, runId: run.id });
  if (recheck === undefined) return;
  takeRecheckOver(scene, recheck, run);
  noteProgress(scene);
}

/** Ends all judging: drops the questions, makes copies without a verdict unscored, and ends the second checks. */
export function stopJudging(scene: JudgingScene): void {
  for (const look of dropLooks(scene)) {
    if (look.look === "pair") refusePair(scene, look, "not-judged");
    else refuseVerdict(scene, look, { code: "stopped", text: "The replay was stopped first." });
  }
  endRechecks(scene);
  noteProgress(scene);
}

/** Requests a second judging of each change with a verdict, and a second check of each change that was checked. */
function lookTwice(scene: JudgingScene): void {
  const { turn, replayId } = scene;
  const { partition } = turn.self;
  const looks = listCopies(turn, partition, replayId).flatMap(({ place, repeat }): Look[] => {
    const first = replayVerdicts.get(turn, partition, replayId, place, repeat, "first");
    return first?.state === "judged" ? [{ look: "second", place, repeat }] : [];
  });
  for (const { place, repeat } of looks) insertVerdict(turn, { replayId, place, repeat }, "second");
  wantRechecks(scene);
  wantLooks(scene, looks);
}

/** Compares each copy with a copy of the paired replay, once both replays have ended. */
function pairUp(scene: JudgingScene): void {
  const { turn, replayId } = scene;
  const replay = getReplay(scene);
  if (!isToPair(scene, replay) || replayPairs.list(turn, turn.self.partition, [replayId], { limit: 1 }).length > 0)
    return;
  const looks = listCopies(turn, turn.self.partition, replayId).map(
    ({ place, repeat }): Look => ({ look: "pair", place, repeat }),
  );
  for (const { place, repeat } of looks) insertPair(turn, { replayId, place, repeat });
  wantLooks(scene, looks);
}

function isToPair({ turn }: JudgingScene, { state, pairedWith }: ReplayRow): boolean {
  if (state !== "finished" || pairedWith === null) return false;
  const their = replays.get(turn, turn.self.partition, pairedWith);
  return their === undefined || !isUnderWay(their);
}

/** Updates the replay's row: whether it waits for the model, and whether all judging is complete. */
function noteProgress(scene: JudgingScene): void {
  const sinceMs = findWaitingSinceMs(scene);
  const before = getReplay(scene);
  const other = before.waiting?.for === "model" ? null : before.waiting;
  const waiting = sinceMs === null ? other : ({ for: "model", since: new Date(sinceMs).toISOString() } as const);
  const judged = !isUnderWay(before) && areLooksOver(scene) && areRechecksOver(scene) && !isToBePaired(scene, before);
  const isSame =
    judged === before.judged && waiting?.for === before.waiting?.for && waiting?.since === before.waiting?.since;
  if (!isSame) changeReplay(scene, (replay) => ({ ...replay, waiting, judged }));
}

/** Whether the replay still waits for the end of the paired replay. */
function isToBePaired(scene: JudgingScene, replay: ReplayRow): boolean {
  return replay.state === "finished" && replay.pairedWith !== null && !isToPair(scene, replay);
}
