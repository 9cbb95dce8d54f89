import type { Turn, TurnReading } from "../../runtime/turn.js";
import { findLine } from "../lines/line.queries.js";
import type { Money } from "../money.js";
import { listEntries } from "../replays/list-entries.js";
import type { ReplayRow } from "../replays/replay.js";
import { laneOfSearch, replayRef } from "../replays/replay.messages.js";
import { isUnderWay, replays } from "../replays/replay.table.js";
import { listCopies } from "../replays/replay-copy.table.js";
import { orderReplay } from "../replays/replay-plan.js";
import { makeRoom } from "../replays/replay-room.js";
import { replaySets } from "../replays/replay-set.table.js";
import { watchReplay } from "../replays/replay-watcher.table.js";
import { dispatcherRef, type LimitLane } from "../runners/dispatcher.messages.js";
import { runs } from "../runs/run.table.js";
import { pin, unpin } from "../tables/pins.js";
import { type SearchCandidateRow, type SearchInputRow, type SearchRow, toBlock } from "./search.js";
import { searchRef } from "./search.messages.js";
import { searchCandidateInputs } from "./search-candidate.table.js";

/** The replays of a search: how it orders them, hears of them and ends them. */

/** A replay none of whose copies a runner took for so long is stopped. */
export const IDLE_MS = 24 * 60 * 60 * 1_000;

/** Names of the wake-ups at which a replay is looked at: this, and its id. */
const IDLE = "idle ";

/** The replay that is looked at in a wake-up of this name; null for another. */
export function toIdleReplay(name: string): string | null {
  return name.startsWith(IDLE) ? name.slice(IDLE.length) : null;
}

/** Has the search of this turn told what becomes of a replay, keeps it stored, and looks whether it goes on. */
export function watchSearchReplay(turn: Turn, replayId: string): void {
  const { partition, id } = turn.self;
  // Nothing that it does follows from single copies.
  watchReplay(turn, replayId, searchRef(partition, id), ["ended", "judged", "removed"]);
  pin(turn, partition, { of: replays.name, id: replayId, by: id });
  turn.wake(`${IDLE}${replayId}`, turn.now + IDLE_MS);
}

/** Sets how many copies of the search's replays run at once; null once it has ended. */
export function limitSearchLane(turn: Turn, searchId: string, maxClaims: number | null): void {
  const limit: LimitLane = { type: "lane.limit", lane: laneOfSearch(searchId), maxClaims };
  turn.send(dispatcherRef(turn.self.partition), limit);
}

/** The replay has ended: it is not looked at any more. */
export function leaveReplay(turn: Turn, replayId: string): void {
  turn.cancelWake(`${IDLE}${replayId}`);
}

/** Takes the pins of the search's replays and of its set away: it has ended. */
export function releaseReplays(turn: Turn, search: SearchRow, candidates: readonly SearchCandidateRow[]): void {
  const { partition } = turn.self;
  for (const replayId of candidates.flatMap(replaysOf)) {
    unpin(turn, partition, { of: replays.name, id: replayId, by: search.id });
    leaveReplay(turn, replayId);
  }
  unpin(turn, partition, { of: replaySets.name, id: search.setId, by: search.id });
}

/** Ends the replays that are under way, and the judging of others. */
export function endReplays(turn: Turn, candidates: readonly SearchCandidateRow[]): void {
  const { partition } = turn.self;
  for (const replayId of candidates.flatMap(replaysOf)) {
    const replay = replays.get(turn, partition, replayId);
    if (replay === undefined || (replay.judged && !isUnderWay(replay))) continue;
    turn.send(replayRef(partition, replayId), { type: "replay.end" });
  }
}

/** The ids of a candidate's replays. */
export function replaysOf({ replayId, heldOutReplayId }: SearchCandidateRow): readonly string[] {
  return [replayId, heldOutReplayId].flatMap((id) => id ?? []);
}

/** Which replay of a candidate is ordered, and under which ceiling. */
interface Order {
  readonly candidate: SearchCandidateRow;
  readonly of: "searched" | "heldOut";
  readonly ceiling: Money;
}

/**
 * Orders a replay of a candidate over the searched runs, or those held out, set beside that of the live config. Null
 * where the set has no room for another replay.
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
  if (makeRoom(turn, set, { count: 1, beside: search.seedReplayId }) !== null) return null;
  const wanted = new Set(input.split[of].map(({ runId }) => runId));
  const replay = orderReplay(turn, {
    ...{ set, line, block: toBlock(own.config, own.block), config: own.config, live: input.config },
    ...{ fingerprints: { fingerprint, runningFingerprint, scoringFingerprint }, judgeModel: own.judgeModel },
    entries: listEntries(turn, set, wanted),
    candidate: { id: candidateId, name, kind: "searched" },
    ...{ repeats: search.budget.repeats, ceiling, probe: false, pairedWith: search.seedReplayId },
    ...{ answers: null, startedBaseline: null, concurrency: null },
    search: { searchId: search.id, candidateName: name },
  });
  watchSearchReplay(turn, replay.id);
  return replay;
}

/**
 * What is due of a replay that is looked at: nothing once it has ended (null), to be stopped when no runner took a copy
 * for a day, else the time at which to look again, in milliseconds since 1970.
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

/** Looks at the replay again at that time, or ends it (null). */
export function lookAgain(turn: Turn, { replayId, againMs }: { replayId: string; againMs: number | null }): void {
  if (againMs === null) turn.send(replayRef(turn.self.partition, replayId), { type: "replay.end" });
  else turn.wake(`${IDLE}${replayId}`, againMs);
}

function lastActive(turn: TurnReading, runId: string): number[] {
  const run = runs.get(turn, turn.self.partition, runId);
  const at = run?.endedAt ?? run?.startedAt ?? null;
  return at === null ? [] : [Date.parse(at)];
}
