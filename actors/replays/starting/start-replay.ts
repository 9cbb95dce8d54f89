import type { Delivered, Turn } from "../../../runtime/turns/turn.js";
import type { Caller } from "../../caller.js";
import type { LineFields } from "../../lines/line.js";
import type { StationBody } from "../../lines/station.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import { recordChange } from "../../resources/change-record.table.js";
import { findRequestBefore, recordRequest } from "../../resources/repeated-request.js";
import { findResource } from "../../resources/resource.table.js";
import { freeReplayQuota } from "../budget/replay-quota.js";
import { toBlockScope } from "../candidates/block-scope.js";
import { checkBlock, type LineRow } from "../candidates/candidate-rules.js";
import type { ReplayCandidateFields } from "../candidates/replay-candidate.kind.js";
import { toConfig, toFingerprints, toJudgeModel } from "../candidates/station-config.js";
import type { ReplayJudging } from "../judging/model-terms.js";
import { isFollowed } from "../oracle/start-oracle.js";
import type { ReplayRow } from "../replay/replay.js";
import { replays } from "../replay/replay.table.js";
import { findBaseline, planBaseline } from "../sets/baseline.js";
import type { ReplaySetRow } from "../sets/replay-set.js";
import type { ReplayStarted, StartReplay } from "../sets/replay-set.messages.js";
import { refusePlanner, setNotFound } from "../sets/replay-set.queries.js";
import { replaySets } from "../sets/replay-set.table.js";
import { stationLeft } from "../sets/replay-set.transitions.js";
import { planLive } from "./live-replay.js";
import { orderReplay, type ReplayPlan, raiseCeiling } from "./replay-plan.js";
import { noRuns, refuseMore } from "./start-refusals.js";
import { listStartWarnings } from "./start-warnings.js";
import { findStartingPoint, type StartingPoint } from "./starting-point.js";

/** The data from which a replay starts. */
interface Start extends StartingPoint {
  readonly event: Delivered<StartReplay>;
  readonly judging: ReplayJudging;
}

/**
 * Starts a replay, and a baseline with it if the set has none. Returns a refusal if the replay cannot start. Call it in
 * a turn of the actor of the team's sets.
 */
export function startReplay(event: Delivered<StartReplay>, judging: ReplayJudging): ReplayStarted | Refusal {
  const { turn, caller, setId } = event;
  const refused = refusePlanner(turn, caller, turn.self.id);
  if (refused !== null) return refused;
  const set = replaySets.get(turn, turn.self.partition, setId);
  if (set === undefined || set.teamId !== turn.self.id) return setNotFound(setId);
  const before = findRequestBefore(turn, event);
  if (before !== null) return isRefusal(before) ? before : answerAgain(turn, before, judging);
  const start = prepare(event, set, judging);
  if (isRefusal(start)) return start;
  const made = event.candidate === "live" ? startLive(start) : startCandidate(start);
  if (isRefusal(made)) return made;
  recordRequest(turn, event, made.id);
  return toAnswer(turn, made, { judging, replayed: false });
}

function prepare(event: Delivered<StartReplay>, set: ReplaySetRow, judging: ReplayJudging): Start | Refusal {
  const { turn } = event;
  const point = findStartingPoint(turn, set, judging);
  if (point === undefined) return stationLeft;
  const full = refuseMore(turn, set);
  if (full !== null) return full;
  return { ...point, event, judging };
}

/**
 * Starts a replay of the live config as the set's new baseline. Refuses if the set has no runs or no space for the
 * replay.
 */
function startLive(start: Start): ReplayRow | Refusal {
  if (start.entries.length === 0) return noRuns;
  return freeReplayQuota(start.event.turn, start.set, { count: 1, beside: null }) ?? startBaseline(start);
}

function startBaseline({ event, judging, ...point }: Start): ReplayRow {
  const { turn, ceiling, repeats, oracle = true } = event;
  const wanted = { live: point.fingerprints, repeats, runs: point.entries.length };
  const planned = planBaseline(turn, turn.self.partition, point.set, wanted);
  const raised = raiseCeiling(ceiling, repeats, planned.repeats);
  return order(event, planLive(turn, point, judging, { ...planned, ceiling: raised, oracle }));
}

/**
 * Starts a replay of a proposed candidate, paired with the set's baseline. Also starts a baseline if the set has no
 * baseline with at least as many repeats.
 */
function startCandidate(start: Start): ReplayRow | Refusal {
  const { event, judging, set, line, live, entries, fingerprints } = start;
  const { turn, ceiling, repeats } = event;
  const { partition } = turn.self;
  const found = findCandidate(start);
  if (isRefusal(found)) return found;
  if (entries.length === 0) return noRuns;
  const { id, block } = found;
  const errors = checkAgain(start, block);
  if (errors !== null) return errors;
  const wanted = { live: fingerprints, repeats };
  const existing = findBaseline(turn, partition, set, wanted);
  const full = freeReplayQuota(turn, set, { count: existing === undefined ? 2 : 1, beside: existing?.id ?? null });
  if (full !== null) return full;
  const baseline = existing ?? startBaseline(start);
  const config = toConfig(turn, { workspaceId: partition, teamId: set.teamId, line }, block);
  return order(event, {
    set,
    line,
    block,
    config,
    live,
    fingerprints: toFingerprints(config, judging),
    entries,
    concurrency: null,
    judgeModel: toJudgeModel(config, judging),
    candidate: { id, name: found.name, kind: "proposed" },
    repeats,
    ceiling,
    probe: false,
    pairedWith: baseline.id,
    answers: null,
    search: null,
    startedBaseline: existing === undefined ? baseline.id : null,
  });
}

/**
 * Finds a candidate that was proposed for the set's station. Refuses with `not-found` if there is no such candidate.
 */
function findCandidate({ event, set }: Start): { id: string; name: string; block: StationBody } | Refusal {
  const { turn, candidate: id } = event;
  const row = findResource<ReplayCandidateFields>(turn, turn.self.partition, "replay-candidate", id);
  const { lineId, stationId } = row?.added ?? {};
  if (row === undefined || lineId !== set.lineId || stationId !== set.stationId) {
    return { refused: "not-found", detail: `Candidate ${id} not found.` };
  }
  return { id, name: row.fields.name, block: row.fields.station };
}

/**
 * Validates the block again by the rules for proposals, because the line, its skills and the harnesses may have changed
 * since the proposal. Returns null if the block is still valid.
 */
function checkAgain({ event, set, station }: Start, block: StationBody): Refusal | null {
  const { turn, caller } = event;
  const line: LineRow | undefined = findResource<LineFields>(turn, turn.self.partition, "line", set.lineId);
  if (line === undefined) return stationLeft;
  const scope = toBlockScope(turn, { ...set, stationKey: station.key }, caller);
  const errors = checkBlock(block, line, { stationKey: station.key, scope });
  return errors.length === 0 ? null : { refused: "invalid", errors };
}

function order({ turn, caller, client }: Delivered<StartReplay>, plan: ReplayPlan): ReplayRow {
  const row = orderReplay(turn, plan);
  recordStart(turn, row, { caller, client });
  return row;
}

function recordStart(
  turn: Turn,
  { id, setId, candidate, teamId }: ReplayRow,
  by: { readonly caller: Caller; readonly client: string | null },
): void {
  const change = { resource: "replay", resourceId: id, key: id, action: "created" } as const;
  const details = { setId, candidateId: candidate.id, state: "queued" };
  recordChange(turn, { ...change, ...by, details }, teamId);
}

function answerAgain(turn: Turn, id: string, judging: ReplayJudging): ReplayStarted | Refusal {
  const row = replays.get(turn, turn.self.partition, id);
  if (row !== undefined) return toAnswer(turn, row, { judging, replayed: true });
  return { refused: "conflict", detail: "The replay that this Idempotency-Key started has been removed." };
}

function toAnswer(
  turn: Turn,
  row: ReplayRow,
  { judging, replayed }: { readonly judging: ReplayJudging; readonly replayed: boolean },
): ReplayStarted {
  const { id, ceiling, startedBaseline } = row;
  const started = startedBaseline === null ? undefined : replays.get(turn, turn.self.partition, startedBaseline);
  const status = startedBaseline === id ? "started" : "starting";
  const baseline = started === undefined ? null : ({ id: started.id, ceiling: started.ceiling, status } as const);
  const oracle = started !== undefined && isFollowed(turn, started, judging) ? { ceiling: started.ceiling } : null;
  const warnings = listStartWarnings(turn, turn.self.partition, row, judging);
  return { replayId: id, ceiling, baseline, oracle, warnings, replayed };
}
