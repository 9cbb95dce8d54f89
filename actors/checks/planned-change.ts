import type { TurnReading } from "../../runtime/turns/turn.js";
import type { Caller } from "../caller.js";
import type { JudgingSetup, RunConfig } from "../lines/fingerprint.js";
import type { LineFields } from "../lines/line.js";
import { passingAs } from "../lines/passing.js";
import type { Station, StationBlock, StationBody } from "../lines/station.js";
import type { FieldError, Refusal } from "../refusal.js";
import { toBlockScope } from "../replays/candidates/block-scope.js";
import { checkBlock, type LineRow } from "../replays/candidates/candidate-rules.js";
import { type Fingerprints, toConfig, toFingerprints } from "../replays/candidates/station-config.js";
import { resolveBlock } from "../replays/starting/live-block.js";
import type { StartingPoint } from "../replays/starting/starting-point.js";
import { canonicalJson } from "../resources/canonical-json.js";
import { findResource } from "../resources/resource.table.js";
import type { LiveField } from "./check.js";
import type { Parsed, PlannedChange } from "./check.messages.js";
import { liveFields } from "./check-schemas.js";

/** A planned change, ready to be replayed. */
export interface PreparedChange {
  /** The planned block, with live values in the fields of {@link liveFields}. */
  readonly block: StationBody;
  /** The live line, with the planned repositories if there are any. */
  readonly line: LineFields;
  readonly config: RunConfig;
  readonly fingerprints: Fingerprints;
  /** The fields that the plan changes, but for which the check uses the live values. */
  readonly keptLive: readonly LiveField[];
}

/**
 * Prepares a change to be replayed. Refuses a block or a line that would not be accepted, and repositories that the
 * live line does not have. These refusals give the path of each problem. Also refuses a change that does not affect how
 * runs work.
 */
export function prepareChange(
  turn: TurnReading,
  point: StartingPoint,
  planned: Parsed<PlannedChange>,
  { caller, judging }: { readonly caller: Caller; readonly judging: JudgingSetup },
): PreparedChange | Refusal {
  if ("errors" in planned) return { refused: "invalid", errors: planned.errors };
  const { station, repositories } = planned.data;
  const line = repositories === null ? point.line : { ...point.line, repositories };
  const { block, keptLive } = withLiveFields(resolveBlock(station, point.station), point.station);
  const errors = [...listStrangers(point.line, repositories), ...checkPlanned(turn, point, { block, line, caller })];
  if (errors.length > 0) return { refused: "invalid", errors };
  const { set, fingerprints: live } = point;
  const config = toConfig(turn, { workspaceId: turn.self.partition, teamId: set.teamId, line }, block);
  const fingerprints = toFingerprints(config, judging);
  if (fingerprints.runningFingerprint === live.runningFingerprint) return nothingToReplay(keptLive);
  return { block, line, config, fingerprints, keptLive };
}

/**
 * Returns the planned block with the live values in the fields for scoring and placement. An omitted `passesTo` keeps
 * its live value.
 */
function withLiveFields(planned: StationBlock, live: Station): Pick<PreparedChange, "block" | "keptLive"> {
  const { check, judge, diffs, runners } = live;
  const keptLive = liveFields.filter((field) => canonicalJson(planned[field]) !== canonicalJson(live[field]));
  return { block: { ...passingAs(planned, live), check, judge, diffs, runners }, keptLive };
}

/** Lists an error for each repository that the live line does not have. */
function listStrangers(live: LineFields, planned: LineFields["repositories"] | null): FieldError[] {
  const known = new Set(live.repositories.map(({ name }) => name));
  return (planned ?? []).flatMap(({ name }, index) => {
    const path = `line.repositories[${index}].name`;
    return known.has(name) ? [] : [{ path, message: "must be a repository of the line as it is now" }];
  });
}

function checkPlanned(
  turn: TurnReading,
  { set, station }: StartingPoint,
  { block, line, caller }: Pick<PreparedChange, "block" | "line"> & { readonly caller: Caller },
): readonly FieldError[] {
  const row: LineRow | undefined = findResource<LineFields>(turn, turn.self.partition, "line", set.lineId);
  if (row === undefined) throw new Error("a starting point without its line");
  const scope = toBlockScope(turn, { ...set, stationKey: station.key }, caller);
  return checkBlock(block, { ...row, fields: line }, { stationKey: station.key, scope, linePath: "line" });
}

function nothingToReplay(keptLive: readonly LiveField[]): Refusal {
  const detail =
    keptLive.length === 0
      ? "The plan changes nothing that affects the station's runs."
      : `The plan changes only fields that a check leaves at their live values: ${keptLive.join(", ")}.`;
  return { refused: "nothing-to-replay", detail };
}
