import type { TurnReading } from "../../../runtime/turns/turn.js";
import type { Reading } from "../../../storage/store.js";
import { findTeamOfOutcomes, type VisibleTeam } from "../../access/members/team.queries.js";
import { refuseEndedToken } from "../../access/tokens/workspace-token.queries.js";
import { permit, seesOutcomes } from "../../access/visibility/visibility.js";
import type { Caller } from "../../caller.js";
import type { LineFields } from "../../lines/line.js";
import type { Station } from "../../lines/station.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import { findResource } from "../../resources/resource.table.js";
import { dueHolds } from "./entry-commits.js";
import type { ReplaySetRow } from "./replay-set.js";
import { MAX_SETS, replaySets } from "./replay-set.table.js";
import type { StationPlace } from "./run-refusal.js";

/** The access to a team's replays that a caller needs: to read the replays, or also to change them. */
export type Wish = "read" | "plan";

type TeamPlace = Pick<VisibleTeam, "workspaceId" | "teamId">;

/**
 * Returns null if the caller may change the team's replays. Otherwise returns a refusal: `not-found` if the team does
 * not exist or the caller cannot read its outcomes, `forbidden` if the caller lacks the `plan` permission.
 */
function refusePlanning(reading: Reading, caller: Caller, { workspaceId, teamId }: TeamPlace): Refusal | null {
  if (findResource(reading, workspaceId, "team", teamId) === undefined) return { refused: "not-found" };
  if (!seesOutcomes(reading, caller, workspaceId, teamId)) return { refused: "not-found" };
  return permit(reading, caller, workspaceId, "plan", "replay-set");
}

/**
 * Like {@link refusePlanning}, within a turn: the caller may have lost access while the message waited. Also refuses a
 * token that was revoked or has expired.
 */
export function refusePlanner(turn: TurnReading, caller: Caller, teamId: string): Refusal | null {
  return (
    refuseEndedToken(turn, caller, turn.now) ??
    refusePlanning(turn, caller, { workspaceId: turn.self.partition, teamId })
  );
}

/** Returns the team if the caller has the wanted access to its replays, otherwise a refusal. */
export function findTeam(reading: Reading, caller: Caller, teamId: string, wish: Wish): VisibleTeam | Refusal {
  const team = findTeamOfOutcomes(reading, caller, teamId);
  if (isRefusal(team) || wish === "read") return team;
  return refusePlanning(reading, caller, team) ?? team;
}

/** A station with its team. */
export interface TeamStation extends VisibleTeam, StationPlace {}

/**
 * Returns the station with its team. Refuses with `not-found` if the caller cannot read the team's outcomes, or if the
 * line lacks the station. If `wish` is `plan`, also refuses a caller who may not plan.
 */
export function findTeamStation(
  reading: Reading,
  caller: Caller,
  { wish, teamId, ...place }: StationPlace & { readonly wish: Wish; readonly teamId: string },
): TeamStation | Refusal {
  const team = findTeam(reading, caller, teamId, wish);
  if (isRefusal(team)) return team;
  const station = findStationById(reading, team, place);
  return isRefusal(station) ? station : { ...team, ...place };
}

/** A replay set that a caller may read. */
export interface VisibleSet extends VisibleTeam {
  readonly set: ReplaySetRow;
}

/**
 * Returns the set. Refuses with `not-found` if the caller cannot read the team's outcomes, or if the set does not exist
 * or belongs to another team. If `wish` is `plan`, also refuses a caller who may not plan.
 */
export function findReplaySet(
  reading: Reading,
  caller: Caller,
  { wish, teamId, setId }: { readonly wish: Wish; readonly teamId: string; readonly setId: string },
): VisibleSet | Refusal {
  const team = findTeam(reading, caller, teamId, wish);
  if (isRefusal(team)) return team;
  const set = replaySets.get(reading, team.workspaceId, setId);
  return set?.teamId === teamId ? { ...team, set } : setNotFound(setId);
}

/** Returns a set by id without an access check, for callers that were already checked; undefined if it is gone. */
export function findStoredSet(reading: Reading, workspaceId: string, setId: string): ReplaySetRow | undefined {
  return replaySets.get(reading, workspaceId, setId);
}

/** The refusal for a set that does not exist or is not visible. */
export function setNotFound(setId: string): Refusal {
  return { refused: "not-found", detail: `Replay set ${setId} not found.` };
}

/** Lists the sets of a team, or of one station; newest first. */
export function listReplaySets(
  reading: Reading,
  { workspaceId, teamId }: TeamPlace,
  place: StationPlace | null,
): readonly ReplaySetRow[] {
  return replaySets.all(reading, workspaceId, { teamId, ...(place ?? {}) }, { limit: MAX_SETS });
}

/** Lists the teams that have entries without a hold on the entries' commits. An earlier release stored such entries. */
export function listTeamsToHold(reading: Reading, workspaceId: string): readonly string[] {
  const teamIds = dueHolds.entries(reading, workspaceId).map(({ key }) => String(key.at(-3)));
  return [...new Set(teamIds)];
}

/** Finds a station of a team's line by key. Refuses with `not-found` if the line or the station does not exist. */
export function findStationByKey(
  reading: Reading,
  team: TeamPlace,
  { lineId, stationKey }: { readonly lineId: string; readonly stationKey: string },
): StationPlace | Refusal {
  const line = findTeamLine(reading, team, lineId);
  if (isRefusal(line)) return line;
  const station = line.stations.find(({ key }) => key === stationKey);
  return station === undefined ? stationNotFound(stationKey) : { lineId, stationId: station.id };
}

/** Finds a station of a team's line by id. Refuses with `not-found`, with a hint if the value is a station key. */
export function findStationById(
  reading: Reading,
  team: TeamPlace,
  { lineId, stationId }: StationPlace,
): Station | Refusal {
  const line = findTeamLine(reading, team, lineId);
  if (isRefusal(line)) return line;
  const station = line.stations.find(({ id }) => id === stationId);
  if (station !== undefined) return station;
  const named = line.stations.some(({ key }) => key === stationId);
  return stationNotFound(stationId, named ? " That is the key of a station of the line. Send the station's id." : "");
}

function findTeamLine(reading: Reading, { workspaceId, teamId }: TeamPlace, lineId: string): LineFields | Refusal {
  const line = findResource<LineFields>(reading, workspaceId, "line", lineId);
  return line?.teamId === teamId ? line.fields : { refused: "not-found", detail: `Line ${lineId} not found.` };
}

function stationNotFound(station: string, hint = ""): Refusal {
  return { refused: "not-found", detail: `Station ${station} not found.${hint}` };
}
