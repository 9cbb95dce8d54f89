import {
  findReplay,
  findReplayRun,
  type VisibleReplay,
  type VisibleReplayRun,
} from "../../actors/replays/replay/replay.queries.js";
import {
  findReplaySet,
  findTeamStation,
  type TeamStation,
  type VisibleSet,
  type Wish,
} from "../../actors/replays/sets/replay-set.queries.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { ProblemSlug } from "./problem.js";
import type { Subject } from "./subject-route.js";

const problemsOf: Readonly<Record<Wish, readonly ProblemSlug[]>> = { read: [], plan: ["forbidden"] };

/**
 * The station in `{lineId}` and `{stationId}` of the path. `wish` is the access to the team's replays that callers
 * need.
 */
export function stationSubject({ reading }: Pick<Runtime, "reading">, wish: Wish): Subject<TeamStation> {
  return {
    find: ({ caller, params: { teamId = "", lineId = "", stationId = "" } }) =>
      findTeamStation(reading, caller, { wish, teamId, lineId, stationId }),
    problems: problemsOf[wish],
  };
}

/** The replay in `{replayId}` of the path. `wish` is the access to the team's replays that callers need. */
export function replaySubject({ reading }: Pick<Runtime, "reading">, wish: Wish): Subject<VisibleReplay> {
  return {
    find: ({ caller, params: { teamId = "", replayId = "" } }) =>
      findReplay(reading, caller, { wish, teamId, replayId }),
    problems: problemsOf[wish],
  };
}

/** The replay set in `{setId}` of the path. `wish` is the access to the team's replays that callers need. */
export function setSubject({ reading }: Pick<Runtime, "reading">, wish: Wish): Subject<VisibleSet> {
  return {
    find: ({ caller, params: { teamId = "", setId = "" } }) => findReplaySet(reading, caller, { wish, teamId, setId }),
    problems: problemsOf[wish],
  };
}

/** The replay run in `{runId}` of the path, for callers who may read the team's replays. */
export function replayRunSubject({ reading }: Pick<Runtime, "reading">): Subject<VisibleReplayRun> {
  return {
    find: ({ caller, params: { teamId = "", runId = "" } }) => findReplayRun(reading, caller, { teamId, runId }),
  };
}
