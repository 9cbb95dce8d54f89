import type { TeamStation, Wish } from "../../actors/replays/sets/replay-set.queries.js";
import {
  findSearch,
  findSearchedStation,
  findSearchRun,
  type VisibleSearch,
  type VisibleSearchRun,
} from "../../actors/searches/search/search.queries.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Subject } from "../wire/subject-route.js";

/**
 * Finds the station in `{lineId}` and `{stationId}` of the path, for routes about searches. Also finds a station that
 * was removed from its line, while the station still has replay sets.
 */
export function searchedStationSubject({ reading }: Pick<Runtime, "reading">, wish: Wish): Subject<TeamStation> {
  return {
    find: ({ caller, params: { teamId = "", lineId = "", stationId = "" } }) =>
      findSearchedStation(reading, caller, { wish, teamId, lineId, stationId }),
    problems: wish === "plan" ? ["forbidden"] : [],
  };
}

/** The search in `{searchId}` of the path. `wish` is the access to the team's replays that callers need. */
export function searchSubject({ reading }: Pick<Runtime, "reading">, wish: Wish): Subject<VisibleSearch> {
  return {
    find: ({ caller, params: { teamId = "", searchId = "" } }) =>
      findSearch(reading, caller, { wish, teamId, searchId }),
    problems: wish === "plan" ? ["forbidden"] : [],
  };
}

/** The search agent's run in `{runId}` of the path, for callers who may read the team's replays. */
export function searchRunSubject({ reading }: Pick<Runtime, "reading">): Subject<VisibleSearchRun> {
  return {
    find: ({ caller, params: { teamId = "", runId = "" } }) => findSearchRun(reading, caller, { teamId, runId }),
  };
}
