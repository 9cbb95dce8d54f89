import type { Reading } from "../../../storage/store.js";
import {
  type JudgingSetup,
  type RunConfig,
  runConfig,
  toFingerprint,
  toRunningFingerprint,
  toScoringFingerprint,
} from "../../lines/fingerprint.js";
import type { LineFields } from "../../lines/line.js";
import { findLine } from "../../lines/line.queries.js";
import { getRunSetup } from "../../lines/run-setup.js";
import type { StationBody } from "../../lines/station.js";
import { getTeamKey } from "../../resources/resource-indexes.table.js";
import type { ReplaySetRow } from "../sets/replay-set.js";

/** The three fingerprints of a config. */
export interface Fingerprints {
  readonly fingerprint: string;
  readonly runningFingerprint: string;
  readonly scoringFingerprint: string;
}

/** Computes the three fingerprints of a config. */
export function toFingerprints(config: RunConfig, judging: JudgingSetup): Fingerprints {
  return {
    fingerprint: toFingerprint(config),
    runningFingerprint: toRunningFingerprint(config),
    scoringFingerprint: toScoringFingerprint(config, judging),
  };
}

/**
 * Returns the name of the model that judges under a config. Null if the station has no judge. Also null if the judge
 * names no model and no default model is configured.
 */
export function toJudgeModel({ station: { judge } }: RunConfig, { defaultModel }: JudgingSetup): string | null {
  return judge === null ? null : judge.model || defaultModel;
}

/**
 * Returns the run config that a station with this block has on the team's line. Uses the current skills and profile.
 */
export function toConfig(
  reading: Reading,
  { workspaceId, teamId, line }: { readonly workspaceId: string; readonly teamId: string; readonly line: LineFields },
  block: StationBody,
): RunConfig {
  const location = { workspaceId, teamKey: getTeamKey(reading, workspaceId, teamId) };
  return runConfig(line, block, getRunSetup(reading, location, block));
}

/** Returns the fingerprints of the current live config of a set's station; undefined if the station left its line. */
export function findLiveFingerprints(
  reading: Reading,
  workspaceId: string,
  set: Pick<ReplaySetRow, "teamId" | "lineId" | "stationId">,
  judging: JudgingSetup,
): Fingerprints | undefined {
  const line = findLine(reading, workspaceId, set.lineId);
  const station = line?.stations.find(({ id }) => id === set.stationId);
  if (line === undefined || station === undefined) return undefined;
  return toFingerprints(toConfig(reading, { workspaceId, teamId: set.teamId, line }, station), judging);
}
