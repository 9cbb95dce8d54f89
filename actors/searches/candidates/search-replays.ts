import type { Turn, TurnReading } from "../../../runtime/turns/turn.js";
import { findLine } from "../../lines/line.queries.js";
import type { Money } from "../../money.js";
import { freeReplayQuota } from "../../replays/budget/replay-quota.js";
import { listCopies } from "../../replays/copies/replay-copy.table.js";
import type { ReplayRow } from "../../replays/replay/replay.js";
import { laneOfSearch, replayRef } from "../../replays/replay/replay.messages.js";
import { isUnderWay, replays } from "../../replays/replay/replay.table.js";
import { watchReplay } from "../../replays/replay/replay-watcher.table.js";
import { listEntries } from "../../replays/sets/list-entries.js";
import { replaySets } from "../../replays/sets/replay-set.table.js";
import { orderReplay } from "../../replays/starting/replay-plan.js";
import { dispatcherRef, type LimitLane } from "../../runners/dispatcher.messages.js";
import { runs } from "../../runs/run.table.js";
import { pin, unpin } from "../../tables/pins.js";
import { type SearchCandidateRow, type SearchInputRow, type SearchRow, toBlock } from "../search/search.js";
import { searchRef } from "../search/search.messages.js";
import { searchCandidateInputs } from "./search-candidate.table.js";

/** The replays of a search: how the search starts, watches and ends them. */

/** How long a replay may wait for a runner to claim a copy before the search ends the replay, in milliseconds. */
export const IDLE_MS = 24 * 60 * 60 * 1_000;

/** Prefix of the wake-ups that check a replay for idleness; the replay's id follows. */
const IDLE = "idle ";

/** Returns the id of the replay that a wake-up of this name checks; null for other names. */
export function toIdleReplay(name: string): string | null {
  return name.startsWith(IDLE) ? name.slice(IDLE.length) : null;
}

/** Subscribes this turn's search to a replay, pins the replay, and schedules an idleness check. */
export function watchSearchReplay(turn: Turn, replayId: string): void {
  const { partition, id } = turn.self;
  // The search needs no notifications about individual copies.
  watchReplay(turn, replayId, searchRef(partition, id), ["ended", "judged", "removed"]);
  pin(turn, partition, { of: replays.name, id: replayId, by: id });
  turn.wake(`${IDLE}${replayId}`, turn.now + IDLE_MS);
}

/** Sets how many copies of the search's replays may run at once. If `maxClaims` is null, removes the limit. */
export function limitSearchLane(turn: Turn, searchId: string, maxClaims: number | null): void {
  const limit: LimitLane = { type: "lane.limit", lane: laneOfSearch(searchId), maxClaims };
  turn.send(dispatcherRef(turn.self.partition), limit);
}

/** Stops checking a replay for idleness. */
export function stopReplayCheck(turn: Turn, replayId: string): void {
  turn.cancelWake(`${IDLE}${replayId}`);
}

/**
 * Releases the search's pins on its replays and its set, and stops the idleness checks of the replays. Call it when the
 * search ends.
 */
export function releaseReplays(turn: Turn, search: SearchRow, candidates: readonly SearchCandidateRow[]): void {
  const { partition } = turn.self;
  for (const replayId of candidates.flatMap(listReplays)) {
    unpin(turn, partition, { of: replays.name, id: replayId, by: search.id });
    stopReplayCheck(turn, replayId);
  }
  unpin(turn, partition, { of: replaySets.name, id: search.setId, by: search.id });
}

/** Ends the candidates' running replays. For replays that have ended, ends the judging. */
export function endReplays(turn: Turn, candidates: readonly SearchCandidateRow[]): void {
  const { partition } = turn.self;
  for (const replayId of candidates.flatMap(listReplays)) {
    const replay = replays.get(turn, partition, replayId);
    if (replay === undefined || (replay.judged && !isUnderWay(replay))) continue;
    turn.send(replayRef(partition, replayId), { type: "replay.end" });
  }
}

/** Lists the ids of a candidate's replays. */
export function listReplays({ replayId, heldOutReplayId }: SearchCandidateRow): readonly string[] {
  return [replayId, heldOutReplayId].flatMap((id) => id ?? []);
}

/** A replay to start: its candidate, its runs (searched or held-out), and its ceiling. */
interface Order {
  readonly candidate: SearchCandidateRow;
  readonly of: "searched" | "heldOut";
  readonly ceiling: Money;
}

/**
 * Starts a candidate's replay on the searched or the held-out runs, paired with the seed's replay. Returns null if the
 * set has no space for another replay.
 */
export function orderCandidate(
  turn: Turn,
  search: SearchRow,
  input: SearchInputRow,
  { candidate, of, ceiling }: Order,
): ReplayRow | null {
  const { partition } = turn.self;
  const { candidateId, name, fingerprint, runningFingerprint, scoringFingerprint } = candidate;
  const set = replaySets.get(turn, partition, search.setId);
  const line = findLine(turn, partition, search.lineId);
  const own = searchCandidateInputs.get(turn, partition, search.id, candidateId);
  if (set === undefined || line === undefined || own === undefined)
    throw new Error("a candidate that cannot be replayed");
  if (freeReplayQuota(turn, set, { count: 1, beside: search.seedReplayId }) !== null) return null;
  const wanted = new Set(input.split[of].map(({ runId }) => runId));
  const replay = orderReplay(turn, {
    set,
    line,
    block: toBlock(own.config, own.block),
    config: own.config,
    live: input.config,
    fingerprints: { fingerprint, runningFingerprint, scoringFingerprint },
    judgeModel: own.judgeModel,
    entries: listEntries(turn, set, wanted),
    candidate: { id: candidateId, name, kind: "searched" },
    repeats: search.budget.repeats,
    ceiling,
    probe: false,
    pairedWith: search.seedReplayId,
    answers: null,
    startedBaseline: null,
    concurrency: null,
    search: { searchId: search.id, candidateName: name },
  });
  watchSearchReplay(turn, replay.id);
  return replay;
}

/**
 * Decides what to do with a replay at an idleness check. Returns null if the replay has ended. Returns `idle` if copies
 * are queued and no copy has run for a day. Otherwise returns the time of the next check, in milliseconds since the
 * epoch.
 */
export function findIdleness(turn: TurnReading, replayId: string): "idle" | number | null {
  const { partition } = turn.self;
  const replay = replays.get(turn, partition, replayId);
  if (replay === undefined || !isUnderWay(replay)) return null;
  const { counts, createdAt } = replay;
  if (counts.running > 0 || counts.queued === 0) return turn.now + IDLE_MS;
  const copies = listCopies(turn, partition, replayId);
  const taken = copies.flatMap(({ runId, lostRunIds }) => [...lostRunIds, runId].flatMap((id) => id ?? []));
  const times = taken.flatMap((id) => lastActive(turn, id));
  const untilMs = Math.max(Date.parse(createdAt), ...times) + IDLE_MS;
  return untilMs <= turn.now ? "idle" : untilMs;
}

/** Schedules the next check of the replay at `againMs`. Ends the replay if `againMs` is null. */
export function lookAgain(turn: Turn, { replayId, againMs }: { replayId: string; againMs: number | null }): void {
  if (againMs === null) turn.send(replayRef(turn.self.partition, replayId), { type: "replay.end" });
  else turn.wake(`${IDLE}${replayId}`, againMs);
}

function lastActive(turn: TurnReading, runId: string): number[] {
  const run = runs.get(turn, turn.self.partition, runId);
  const at = run?.endedAt ?? run?.startedAt ?? null;
  return at === null ? [] : [Date.parse(at)];
}
