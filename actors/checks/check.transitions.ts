import type { EventWith } from "../../runtime/cells/chart.js";
import type { Turn } from "../../runtime/turns/turn.js";
import { atOnce } from "../in-steps.js";
import { requestRemoval } from "../replays/budget/replay-quota.js";
import { toJudgeModel } from "../replays/candidates/station-config.js";
import type { ReplayJudging } from "../replays/judging/model-terms.js";
import type { ReplayRow } from "../replays/replay/replay.js";
import { isUnderWay, replays } from "../replays/replay/replay.table.js";
import { unwatchReplay, watchReplay } from "../replays/replay/replay-watcher.table.js";
import { planLive } from "../replays/starting/live-replay.js";
import { orderReplay } from "../replays/starting/replay-plan.js";
import { listStartWarnings } from "../replays/starting/start-warnings.js";
import { recordChange } from "../resources/change-record.table.js";
import { recordRequest } from "../resources/repeated-request.js";
import { pin, unpin } from "../tables/pins.js";
import type { ReplayCheckRow } from "./check.js";
import { replayCheckRef, type StartCheck } from "./check.messages.js";
import { isDecided, replayChecks } from "./check.table.js";
import { replayCheckTopic } from "./check-changes.js";
import { toResult } from "./check-result.js";
import { replayCheckResults } from "./check-result.table.js";
import type { ReplaySide, ReplaySides } from "./check-sides.js";
import type { PreparedCheck } from "./prepare-check.js";
import type { Decision } from "./verdict.js";

/** The actions of a check's transitions. `check.machine.ts` defines when they run. */

/** The state of both replays after one of them progressed, and the decision that follows from this state. */
interface SidesMoved {
  readonly sides: ReplaySides;
  readonly decision: Decision;
}

/**
 * Starts a check and answers. Starts the check's replay, and a baseline if the set has none; watches and pins both
 * replays. Writes the check's row and a change record. Also requests the removal of old replays and checks, to make
 * space.
 */
export function startCheck(message: EventWith<StartCheck>, prepared: PreparedCheck, judging: ReplayJudging): void {
  const { turn, caller, client } = message;
  const { partition, id } = turn.self;
  requestRemoval(turn, prepared.replaced);
  for (const each of prepared.leaving) turn.send(replayCheckRef(partition, each), { type: "check.forget" });
  const baseline = prepared.baseline ?? orderBaseline(turn, prepared, judging);
  const replay = orderPlanned(turn, prepared, { baseline, judging });
  const row = toRow(turn, prepared, { replay, baseline, judging });
  replayChecks.insert(turn, partition, row);
  for (const replayId of [replay.id, baseline.id]) {
    watchReplay(turn, replayId, replayCheckRef(partition, id));
    pin(turn, partition, { of: replays.name, id: replayId, by: id });
  }
  const change = { resource: "replay-check", resourceId: id, key: id, action: "created" } as const;
  const { setId, candidateId, replayId, attempt, stationKey } = row;
  const details = { setId, stationKey, candidateId, replayId, attempt, ...row.reference };
  recordChange(turn, { ...change, caller, client, details }, row.teamId);
  recordRequest(turn, message, id);
  turn.reply({ checkId: id, how: "started" });
}

/**
 * Starts a replay of the live config with as many copies of each run as the check needs. The replay is not a probe
 * (`probe`): its copies are judged and checked only once, so its cost stays within the ceiling.
 */
function orderBaseline(turn: Turn, { point, terms, threshold }: PreparedCheck, judging: ReplayJudging): ReplayRow {
  const { repeats } = terms;
  return orderReplay(turn, planLive(turn, point, judging, { repeats, ceiling: threshold.ceiling }));
}

interface Beside {
  readonly baseline: ReplayRow;
  readonly judging: ReplayJudging;
}

function orderPlanned(
  turn: Turn,
  { point, change, terms, threshold, ...prepared }: PreparedCheck,
  { baseline, judging }: Beside,
): ReplayRow {
  const { block, line, config, fingerprints } = change;
  const { set, live, entries } = point;
  return orderReplay(turn, {
    set,
    line,
    block,
    config,
    live,
    fingerprints,
    entries,
    concurrency: null,
    judgeModel: toJudgeModel(config, judging),
    candidate: { id: turn.newId("cand"), name: toName(turn, terms.reference), kind: "planned" },
    repeats: terms.repeats,
    ceiling: threshold.ceiling,
    probe: false,
    pairedWith: baseline.id,
    answers: null,
    search: null,
    startedBaseline: prepared.baseline === null ? baseline.id : null,
  });
}

function toName({ now }: Turn, { pullRequest, commit }: ReplayCheckRow["reference"]): string {
  const of =
    pullRequest === null ? (commit?.slice(0, 7) ?? new Date(now).toISOString().slice(0, 10)) : `PR #${pullRequest}`;
  return `Planned change, ${of}`;
}

function toRow(
  turn: Turn,
  { point, change, terms, threshold, attempt, runsDigest }: PreparedCheck,
  { replay, baseline, judging }: Beside & { readonly replay: ReplayRow },
): ReplayCheckRow {
  const { teamId, lineId, stationId, stationKey, setId, setVersion } = replay;
  const { fingerprints: live, entries } = point;
  return {
    id: turn.self.id,
    teamId,
    lineId,
    stationId,
    stationKey,
    setId,
    setVersion,
    candidateId: replay.candidate.id,
    replayId: replay.id,
    baselineReplayId: baseline.id,
    attempt,
    reference: terms.reference,
    keptLive: change.keptLive,
    threshold,
    repeats: terms.repeats,
    liveFingerprint: live.fingerprint,
    candidateFingerprint: change.fingerprints.fingerprint,
    liveRunning: live.runningFingerprint,
    candidateRunning: change.fingerprints.runningFingerprint,
    scoring: live.scoringFingerprint,
    runsDigest,
    warned: listStartWarnings(turn, turn.self.partition, replay, judging).map(({ kind }) => kind),
    tasks: new Set(entries.map(({ taskId }) => taskId)).size,
    verdict: "running",
    undecidedBecause: null,
    regressed: 0,
    compared: 0,
    createdAt: new Date(turn.now).toISOString(),
    decidedAt: null,
    endedAt: null,
  };
}

/**
 * Updates the check's counts. Stores the results with the first verdict other than `running`. Stores them again when
 * both replays are gone or have no work left, and then stops watching and pinning the replays.
 */
export function takeMoved(turn: Turn, { sides, decision }: SidesMoved): void {
  const { partition } = turn.self;
  const before = getCheck(turn);
  const { candidate, baseline } = sides;
  const isWhole = candidate !== null && baseline !== null;
  const { regressed, compared } = isWhole ? decision : before;
  const { verdict, undecidedBecause } = isDecided(before) ? before : decision;
  const now = new Date(turn.now).toISOString();
  const decidedAt = before.decidedAt ?? (verdict === "running" ? null : now);
  const isOver = decidedAt !== null && isStill(candidate) && isStill(baseline);
  const row = { ...before, regressed, compared, verdict, undecidedBecause, decidedAt, endedAt: isOver ? now : null };
  if (!isSame(row, before)) replayChecks.put(turn, partition, before, row);
  if (decidedAt !== null && (before.decidedAt === null || isOver)) storeResult(turn, row, { sides, isWhole });
  if (isOver) releaseReplays(turn, row);
}

function isSame(one: ReplayCheckRow, other: ReplayCheckRow): boolean {
  const fields = ["regressed", "compared", "verdict", "decidedAt", "endedAt"] as const;
  return fields.every((field) => one[field] === other[field]);
}

/** Returns whether a replay is gone, or has ended and has no run that is still running. */
function isStill(side: ReplaySide | null): boolean {
  return side === null || (!isUnderWay(side.replay) && side.replay.counts.running === 0);
}

/** Stores the check's results. If a replay is gone, keeps results that were stored earlier. */
function storeResult(
  turn: Turn,
  row: ReplayCheckRow,
  { sides, isWhole }: Pick<SidesMoved, "sides"> & { readonly isWhole: boolean },
): void {
  const { partition } = turn.self;
  const before = replayCheckResults.get(turn, partition, row.id) ?? null;
  if (before === null || isWhole)
    replayCheckResults.put(turn, partition, before, atOnce(toResult(turn, partition, row, sides)));
}

function releaseReplays(turn: Turn, { id, replayId, baselineReplayId }: ReplayCheckRow): void {
  const { partition } = turn.self;
  for (const each of [replayId, baselineReplayId]) {
    unwatchReplay(turn, each, replayCheckRef(partition, id));
    unpin(turn, partition, { of: replays.name, id: each, by: id });
  }
}

/** Removes the check's rows, stops watching and pinning its replays, and publishes the removal. */
export function forgetCheck(turn: Turn): void {
  const { partition, id } = turn.self;
  const row = getCheck(turn);
  releaseReplays(turn, row);
  replayChecks.remove(turn, partition, row);
  const result = replayCheckResults.get(turn, partition, id);
  if (result !== undefined) replayCheckResults.remove(turn, partition, result);
  turn.publishChange(replayCheckTopic(id), { type: "deleted" });
}

function getCheck(turn: Turn): ReplayCheckRow {
  const row = replayChecks.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined) throw new Error("a check without its row");
  return row;
}
