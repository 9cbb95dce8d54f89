import type { TurnReading } from "../../../runtime/turns/turn.js";
import type { ReplayEntry } from "../replay/replay-input.table.js";
import type { ReplaySetRow } from "./replay-set.js";
import { replayEntries } from "./replay-set.table.js";
import { findPastRun } from "./replayable-run.js";
import { findStationNow, refuseRun } from "./run-refusal.js";

/**
 * Lists the current runs of a set for a replay. An entry's `refusal` says why the run cannot be repeated; null if it
 * can be repeated. `wanted` limits the list to runs with these ids.
 */
export function listEntries(
  turn: TurnReading,
  set: ReplaySetRow,
  wanted?: ReadonlySet<string>,
): readonly ReplayEntry[] {
  const { partition } = turn.self;
  const station = findStationNow(turn, partition, set);
  const entries = replayEntries.list(turn, partition, [set.id]).filter(({ runId }) => wanted?.has(runId) !== false);
  return entries.map(({ place, runId, taskId }) => {
    const past = findPastRun(turn, partition, runId);
    const refusal = past === undefined ? "no-input" : refuseRun(turn, partition, past.run, station);
    return { place, runId, taskId, title: past?.task.title ?? "", refusal };
  });
}
