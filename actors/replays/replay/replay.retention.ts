import type { TurnReading } from "../../../runtime/turns/turn.js";
import { toRunningFingerprint } from "../../lines/fingerprint.js";
import { runs } from "../../runs/run.table.js";
import { isPinned } from "../../tables/pins.js";
import { retain } from "../../tables/retention.js";
import { toConfig } from "../candidates/station-config.js";
import { findBaseline } from "../sets/baseline.js";
import type { ReplaySetRow } from "../sets/replay-set.js";
import { replaySets } from "../sets/replay-set.table.js";
import { findStationNow } from "../sets/run-refusal.js";
import { isNamedByHealth, isNewestCheck } from "../sets/set-health.queries.js";
import type { ReplayRow } from "./replay.js";
import { replayRef } from "./replay.messages.js";
import { replays } from "./replay.table.js";

/** The retention of ended replays. It keeps each replay for which {@link isRetainedReplay} is true. */
export const replayRetention = retain(replays, {
  period: "work",
  after: [runs.name],
  // A removed replay also removes its copies.
  cost: 50,
  startedAtMs: ({ createdAt }) => Date.parse(createdAt),
  endedAtMs: ({ endedAt }) => (endedAt === null ? null : Date.parse(endedAt)),
  isRetained: isRetainedReplay,
  remove: (turn, { id }) => {
    turn.send(replayRef(turn.self.partition, id), { type: "replay.forget" });
    return true;
  },
});

/** Whether an ended replay must stay: another actor pins it, or the figures of its set need it. */
export function isRetainedReplay(turn: TurnReading, replay: ReplayRow): boolean {
  return isPinned(turn, { of: replays.name, id: replay.id }) || isNamed(turn, replay);
}

/**
 * Whether the set's figures need the replay: it is the baseline of the current live config, or the set's health names
 * it.
 */
function isNamed(turn: TurnReading, replay: ReplayRow): boolean {
  const { partition } = turn.self;
  const set = replaySets.get(turn, partition, replay.setId);
  if (set === undefined) return false;
  if (isNewestCheck(turn, partition, set, replay)) return true;
  if (!isOfLiveConfig(turn, set, replay)) return false;
  const baseline = findBaseline(turn, partition, set, { live: replay });
  return baseline?.id === replay.id || isNamedByHealth(turn, partition, set, replay);
}

/** Whether the station's current config has the replay's running fingerprint. */
function isOfLiveConfig(
  turn: TurnReading,
  { teamId, ...place }: ReplaySetRow,
  { runningFingerprint }: ReplayRow,
): boolean {
  const workspaceId = turn.self.partition;
  const { line, station } = findStationNow(turn, workspaceId, place);
  if (line === undefined || station === undefined) return false;
  return toRunningFingerprint(toConfig(turn, { workspaceId, teamId, line }, station)) === runningFingerprint;
}
