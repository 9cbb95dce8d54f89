import type { TurnReading } from "../../../runtime/turns/turn.js";
import type { JudgingSetup, RunConfig } from "../../lines/fingerprint.js";
import type { LineFields } from "../../lines/line.js";
import type { Station } from "../../lines/station.js";
import { type Fingerprints, toConfig, toFingerprints } from "../candidates/station-config.js";
import type { ReplayEntry } from "../replay/replay-input.table.js";
import { listEntries } from "../sets/list-entries.js";
import type { ReplaySetRow } from "../sets/replay-set.js";
import { findStationNow } from "../sets/run-refusal.js";

/** The data that every replay of a set starts from: the current station and the set's runs. */
export interface StartingPoint {
  readonly set: ReplaySetRow;
  readonly line: LineFields;
  readonly station: Station;
  /** The config of the station, and its fingerprints. */
  readonly live: RunConfig;
  readonly fingerprints: Fingerprints;
  readonly entries: readonly ReplayEntry[];
}

/** Reads the data for a start; undefined if the station left its line. */
export function findStartingPoint(
  turn: TurnReading,
  set: ReplaySetRow,
  judging: JudgingSetup,
): StartingPoint | undefined {
  const { partition: workspaceId } = turn.self;
  const { line, station } = findStationNow(turn, workspaceId, set);
  if (line === undefined || station === undefined) return undefined;
  const live = toConfig(turn, { workspaceId, teamId: set.teamId, line }, station);
  const fingerprints = toFingerprints(live, judging);
  return { set, line, station, live, fingerprints, entries: listEntries(turn, set) };
}
