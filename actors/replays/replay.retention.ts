import type { Turn } from "../../runtime/turn.js";
import { toRunningFingerprint } from "../lines/fingerprint.js";
import { isPinned } from "../tables/pins.js";
import { retain } from "../tables/retention.js";
import { coversSet } from "./baseline.js";
import { replayRef } from "./replay.messages.js";
import { type ReplayRow, replays } from "./replay.table.js";
import { type ReplaySetRow, replaySets } from "./replay-set.table.js";
import { findStationNow } from "./run-refusal.js";
import { toConfig } from "./station-config.js";

/** Replays that ended. Those that a set's figures are read from stay: its baseline, and what its health names. */
export const replayRetention = retain(replays, {
  period: "work",
  // The removal of its copies follows.
  cost: 50,
  begunAtMs: ({ createdAt }) => Date.parse(createdAt),
  endedAtMs: ({ endedAt }) => (endedAt === null ? null : Date.parse(endedAt)),
  isKept: (turn, replay) => isPinned(turn, { of: replays.name, id: replay.id }) || isNamed(turn, replay),
  remove: (turn, { id }) => {
    turn.send(replayRef(turn.self.partition, id), { type: "replay.forget" });
    return true;
  },
});

/**
 * Whether its set is read with it: a baseline of the live config as it is now, the newest for its noise, the newest that
 * checked the set, or the newest with the answer and the one that it answers.
 */
function isNamed(turn: Turn, replay: ReplayRow): boolean {
  const { partition } = turn.self;
  const { candidate, setId, state } = replay;
  const set = replaySets.get(turn, partition, setId);
  if (set === undefined) return false;
  const isNewest = (fits: (other: ReplayRow) => boolean) =>
    fits(replay) && replays.all(turn, partition, { setId }, { limit: 1, fits })[0]?.id === replay.id;
  if (isWithAnswer(replay)) return isNewest(isWithAnswer);
  const [answered] = replays.all(turn, partition, { setId }, { limit: 1, fits: isWithAnswer });
  if (answered?.answers === replay.id) return true;
  if (candidate.kind !== "live" || state !== "finished") return false;
  const isFinished = (other: ReplayRow) => other.candidate.kind === "live" && other.state === "finished";
  if (isNewest((other) => isFinished(other) && other.probe)) return true;
  if (!isOfLiveConfig(turn, set, replay) || !coversSet(turn, partition, replay, set)) return false;
  const isLike = (other: ReplayRow) =>
    isFinished(other) &&
    other.runningFingerprint === replay.runningFingerprint &&
    other.scoringFingerprint === replay.scoringFingerprint &&
    coversSet(turn, partition, other, set);
  return isNewest(isLike) || isNewest((other) => isLike(other) && other.repeats > 1);
}

function isWithAnswer({ candidate }: ReplayRow): boolean {
  return candidate.kind === "with-answer";
}

/** Whether runs of the station go now as those of the replay went. */
function isOfLiveConfig(turn: Turn, { teamId, ...place }: ReplaySetRow, { runningFingerprint }: ReplayRow): boolean {
  const workspaceId = turn.self.partition;
  const { line, station } = findStationNow(turn, workspaceId, place);
  if (line === undefined || station === undefined) return false;
  return toRunningFingerprint(toConfig(turn, { workspaceId, teamId, line }, station)) === runningFingerprint;
}
