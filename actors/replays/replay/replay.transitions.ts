import type { Delivered, Turn } from "../../../runtime/turns/turn.js";
import { recordChange } from "../../resources/change-record.table.js";
import { recordRequest } from "../../resources/repeated-request.js";
import { dispatcherRef, type LimitLane } from "../../runners/dispatcher.messages.js";
import { type EndRun, runRef } from "../../runs/run.messages.js";
import { removePins, unpin } from "../../tables/pins.js";
import { putReplay } from "../budget/search-budget.js";
import { removeMade } from "../candidates/made-candidate.table.js";
import { queueCopies } from "../copies/queue-copies.js";
import { isSettled, listCopies, replayCopies } from "../copies/replay-copy.table.js";
import { dropJudging, removeLooks } from "../judging/judging-removal.js";
import type { JudgingScene } from "../judging/judging-scene.js";
import type { ModelTerms } from "../judging/model-terms.js";
import { judgeCopy, lookAfterEnd, stopJudging } from "../judging/replay-judging.transitions.js";
import { replayTopic, searchedReplayTopic } from "../reads/replay-changes.js";
import { releaseCommits } from "../sets/entry-commits.js";
import { replaySetsRef } from "../sets/replay-set.messages.js";
import { runRefusals } from "../sets/run-refusal.js";
import type { CopyName, ReplayContext, ReplayCopyRow, ReplayRow, ReplayState } from "./replay.js";
import { laneOfReplay, type StopReplay } from "./replay.messages.js";
import { isUnderWay, replays } from "./replay.table.js";
import { getReplayInput, type ReplayEntry, type ReplayInputRow, replayInputs } from "./replay-input.table.js";
import { listPinned } from "./replay-pins.js";
import { type CopyChange, countChanges, type ReplayStep, stepReplay, withdrawQueued } from "./replay-step.js";
import { notifyRemoved } from "./tell-watchers.js";

/** The actions of the replay's transitions. `replay.machine.ts` defines when they run. */

/** Maximum number of copies that one turn creates or removes. */
export const COPIES_AT_ONCE = 50;

/** The names of a replay's wake-ups. */
export const wakeUps = { make: "make", settle: "settle", remove: "remove" } as const;

/** Returns the replay's row, which exists from the start of the replay until its removal. */
function getReplayRow(turn: Turn): ReplayRow {
  const row = replays.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined) throw new Error("a replay without its row");
  return row;
}

/** Limits the replay's lane if the replay has a limit of its own, and starts to create the copies. */
export function beginReplay(turn: Turn): void {
  const { concurrency } = getReplayInput(turn, turn.self.partition, turn.self.id);
  if (concurrency !== null) limitLane(turn, concurrency);
  turn.wake(wakeUps.make, turn.now);
}

/** Removes the limit of the replay's lane. */
function freeLane(turn: Turn): void {
  const { concurrency } = getReplayInput(turn, turn.self.partition, turn.self.id);
  if (concurrency !== null) limitLane(turn, null);
}

function limitLane(turn: Turn, maxClaims: number | null): void {
  const limit: LimitLane = { type: "lane.limit", lane: laneOfReplay(getReplayRow(turn)), maxClaims };
  turn.send(dispatcherRef(turn.self.partition), limit);
}

/** Creates the next slice of copies. Every run gets its first copy before any run gets a second. */
export function makeCopies(turn: Turn, context: ReplayContext): ReplayContext {
  const row = getReplayRow(turn);
  const input = getReplayInput(turn, turn.self.partition, row.id);
  const total = row.runs * row.repeats;
  const made = Math.min(total, context.made + COPIES_AT_ONCE);
  for (let index = context.made; index < made; index++) {
    replayCopies.insert(turn, turn.self.partition, newCopy(row.id, input, index));
  }
  if (made < total) turn.wake(wakeUps.make, turn.now);
  return fillQueue(turn, row, { ...context, made });
}

function newCopy(replayId: string, input: ReplayInputRow, index: number): ReplayCopyRow {
  const { entry, repeat } = nameAt(input, index);
  const { place, runId: originalRunId, taskId, refusal } = entry;
  const settled = refusal !== null;
  return {
    replayId,
    place,
    repeat,
    originalRunId,
    taskId,
    runId: null,
    lostRunIds: [],
    outcome: null,
    check: null,
    state: settled ? "settled" : "waiting",
    result: settled ? "unscored" : null,
    why: refusal === null ? null : { code: refusal, text: runRefusals[refusal] },
    spent: null,
    priced: true,
    steps: null,
    ms: null,
    toolMisses: 0,
  };
}

/** Returns the entry and repeat of the copy with this index, from 0. All copies of the first repeat come first. */
function nameAt({ entries }: ReplayInputRow, index: number): { readonly entry: ReplayEntry; readonly repeat: number } {
  const entry = entries[index % entries.length];
  if (entry === undefined) throw new Error("a replay of no runs");
  return { entry, repeat: Math.floor(index / entries.length) + 1 };
}

/** Applies a runner's claim of a copy's run. */
export function takeCopy(turn: Turn, context: ReplayContext, { row, changes }: ReplayStep): ReplayContext {
  const running: ReplayRow = { ...row, state: "running" };
  putStep(turn, running, changes);
  return fillQueue(turn, running, context);
}

/**
 * Writes the changed copies and the row, withdraws runs, requests the judging of copies that need it, and refills the
 * queue.
 */
export function applyStep(scene: JudgingScene, context: ReplayContext, step: ReplayStep): ReplayContext {
  const { turn } = scene;
  const { row, changes, withdrawn, leads } = step;
  putStep(turn, row, changes);
  for (const runId of withdrawn) withdrawRun(turn, runId, "The replay has reached its ceiling.");
  const names = changes.filter(goesBack).map(({ after: { place, repeat } }): CopyName => ({ place, repeat }));
  const next = { ...context, back: [...context.back, ...names] };
  const judged = changes.filter(({ after }) => after.state === "judging");
  if (judged.length > 0) return judgeCopies(scene, next, judged);
  return leads === "on" ? fillQueue(turn, getReplayRow(turn), next) : next;
}

/**
 * Requests the judging of copies. Then computes the replay's step again, because the estimates of the questions may
 * reach the ceiling. Copies that need no question get their results at once; the wake-up `settle` then ends the replay
 * if every copy has a result.
 */
function judgeCopies(scene: JudgingScene, context: ReplayContext, judged: readonly CopyChange[]): ReplayContext {
  const { turn } = scene;
  for (const { after } of judged) judgeCopy(scene, after);
  turn.wake(wakeUps.settle, turn.now);
  return applyStep(scene, context, { ...stepReplay(turn, getReplayRow(turn), null), leads: "on" });
}

/**
 * Whether the copy returned to `waiting`: its runner was lost, or the replay is at its ceiling. Such a copy may still
 * start later, because judging can cost less than its estimates.
 */
function goesBack({ before, after }: CopyChange): boolean {
  return after.state === "waiting" && before.state !== "waiting";
}

/** Runs `work`, a step of the judging. If the replay is in progress, a later turn applies the results and costs. */
export function judgeOn({ turn }: JudgingScene, work: () => void): void {
  work();
  if (isUnderWay(getReplayRow(turn))) turn.wake(wakeUps.settle, turn.now);
}

function putStep(turn: Turn, row: ReplayRow, changes: readonly CopyChange[]): void {
  const { partition } = turn.self;
  for (const { before, after } of changes) replayCopies.put(turn, partition, before, after);
  putReplay(turn, getReplayRow(turn), row);
}

/**
 * Queues copies until the maximum number of copies waits for a runner. Writes the queued copies, and the replay's new
 * counts. Does nothing after the replay's end. Returns the new context.
 */
function fillQueue(turn: Turn, row: ReplayRow, context: ReplayContext): ReplayContext {
  if (!isUnderWay(row)) return context;
  const input = getReplayInput(turn, turn.self.partition, row.id);
  const toName = (index: number): CopyName => {
    const { entry, repeat } = nameAt(input, index);
    return { place: entry.place, repeat };
  };
  const { changes, ...place } = queueCopies(turn, { row, input, context, toName });
  if (changes.length > 0) putStep(turn, countChanges(row, changes), changes);
  return { ...context, ...place };
}

/**
 * Ends the replay. Starts the judging that follows the end, and releases the replay's pins if nothing remains to judge.
 * Notifies the team's sets when a live replay has finished.
 */
export function endReplay(
  scene: JudgingScene,
  state: Extract<ReplayState, "finished" | "stopped" | "over-budget">,
): void {
  const { turn } = scene;
  const row = getReplayRow(turn);
  const endedAt = new Date(turn.now).toISOString();
  replays.put(turn, turn.self.partition, row, { ...row, state, endedAt, waiting: null });
  turn.cancelWake(wakeUps.settle);
  freeLane(turn);
  lookAfterEnd(scene);
  releaseWhenJudged(turn);
  const { id: replayId, teamId, candidate } = row;
  if (state !== "finished" || candidate.kind !== "live") return;
  turn.send(replaySetsRef(turn.self.partition, teamId), { type: "replay.finished", replayId });
}

/** Releases the replay's pins once all judging is complete. */
export function releaseWhenJudged(turn: Turn): void {
  const row = getReplayRow(turn);
  if (row.judged) releasePinned(turn, row);
}

/** Releases the rows that the replay pins and the commits that it holds. */
function releasePinned(turn: Turn, row: ReplayRow): void {
  const { partition, id } = turn.self;
  const { entries } = getReplayInput(turn, partition, id);
  for (const pinned of listPinned(row, entries)) unpin(turn, partition, { ...pinned, by: id });
  for (const { runId } of entries) releaseCommits(turn, { runId, holder: id });
}

/** Stops the replay and withdraws its runs. Copies that were running settle when their runs end. */
export function stopReplay(event: Delivered<StopReplay>, terms: ModelTerms | null): void {
  const { turn, caller, client } = event;
  const scene = { turn, terms, replayId: turn.self.id };
  const { id, teamId, setId, candidate } = getReplayRow(turn);
  withdrawRuns(turn, "The replay was stopped.");
  stopJudging(scene);
  endReplay(scene, "stopped");
  if (caller !== null) {
    const change = { resource: "replay", resourceId: id, key: id, action: "updated" } as const;
    const details = { setId, candidateId: candidate.id, state: "stopped" };
    recordChange(turn, { ...change, caller, client, details }, teamId);
  }
  recordRequest(turn, event, id);
  turn.reply({ replayed: false });
}

/** Ends the judging of a replay that has ended (`replay.end`). */
export function endJudging(scene: JudgingScene): void {
  stopJudging(scene);
  releaseWhenJudged(scene.turn);
}

/** Withdraws all runs of copies. Queued copies return to `waiting`, and their runs are removed. */
function withdrawRuns(turn: Turn, reason: string): void {
  const row = getReplayRow(turn);
  const { changes, withdrawn } = withdrawQueued(turn, row);
  putStep(turn, countChanges(row, changes), changes);
  for (const runId of withdrawn) withdrawRun(turn, runId, reason);
  for (const { state, runId } of listCopies(turn, turn.self.partition, row.id)) {
    if (state === "running" && runId !== null) endRun(turn, runId, reason);
  }
}

/** Ends a run whose agent has not started, and removes the run. */
function withdrawRun(turn: Turn, runId: string, reason: string): void {
  endRun(turn, runId, reason);
  turn.send(runRef(turn.self.partition, runId), { type: "run.forget" });
}

/** Ends a run, in any state. */
export function endRun(turn: Turn, runId: string, reason: string): void {
  const end: EndRun = { type: "run.end", outcome: "withdrawn", reason };
  turn.send(runRef(turn.self.partition, runId), end);
}

/**
 * Removes the row of this turn's replay, so that readers no longer find it. Later turns remove its copies in slices.
 */
export function beginRemoval(turn: Turn): void {
  const { partition, id } = turn.self;
  const row = replays.get(turn, partition, id);
  const input = replayInputs.get(turn, partition, id);
  if (row !== undefined && input !== undefined) {
    dropJudging(turn, id);
    releasePinned(turn, row);
    freeLane(turn);
    replays.remove(turn, partition, row);
    turn.publishChange(replayTopic(id), { type: "deleted" });
    if (row.search !== null) {
      const gone = { type: "replay", replay: { id, state: "gone" } } as const;
      turn.publishChange(searchedReplayTopic(row.search.searchId), gone);
    }
    removeMade(turn, row);
    replayInputs.remove(turn, partition, input);
    removePins(turn, { of: replays.name, id });
    notifyRemoved(turn);
  }
  turn.cancelWake(wakeUps.make);
  turn.cancelWake(wakeUps.settle);
  turn.wake(wakeUps.remove, turn.now);
}

/** Removes a slice of the replay's copies, with their runs. */
export function removeCopies(turn: Turn): void {
  const { partition, id } = turn.self;
  const copies = replayCopies.list(turn, partition, [id], { limit: COPIES_AT_ONCE });
  for (const copy of copies) {
    if (copy.runId !== null && !isSettled(copy)) endRun(turn, copy.runId, "The replay was removed.");
    for (const runId of [...copy.lostRunIds, copy.runId].flatMap((each) => each ?? [])) {
      turn.send(runRef(partition, runId), { type: "run.forget" });
    }
    removeLooks(turn, copy);
    replayCopies.remove(turn, partition, copy);
  }
  if (copies.length === COPIES_AT_ONCE) {
    turn.wake(wakeUps.remove, turn.now);
    return;
  }
  turn.stop();
}
