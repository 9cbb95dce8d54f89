import { z } from "zod";
import { invalid } from "../../actors/refusal.js";
import { findStationByKey, listReplaySets } from "../../actors/replays/replay-set.queries.js";
import {
  replayableRunSchema,
  replayableRunView,
  replaySetSchema,
  replaySetView,
} from "../../actors/replays/replay-set.view.js";
import { candidatesFor, latestRuns } from "../../actors/replays/replayable-run.js";
import { suggestRuns } from "../../actors/replays/suggestions.js";
import type { Runtime } from "../../runtime/runtime.js";
import { inPieces, readPage } from "../page-reading.js";
import { granted } from "../refused.js";
import type { Route, RouteRequest } from "../route.js";
import { subjectRoute } from "../subject-route.js";
import { teamRoute } from "../team-route.js";
import { setSubject, stationSubject } from "./replay-subjects.js";

const STATION = "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}";
const SETS = "/api/teams/{teamId}/replay-sets";
/** Runs that are read before other work has its turn: each takes several rows. */
const RUNS_AT_ONCE = 5;

const listed = z.strictObject({ items: z.array(replaySetSchema) });
const runsListed = z.strictObject({ items: z.array(replayableRunSchema) });

const ofStation = z.strictObject({
  line: z.string().optional().describe("The line's id; with `station`."),
  station: z.string().optional().describe("The station's key; with `line`."),
});

/** Reads of replay sets, and of the runs that may be added to them. */
export function replaySetReadRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [...setRoutes(runtime), ...runRoutes(runtime)];
}

function setRoutes(runtime: Runtime): readonly Route[] {
  const { reading } = runtime;
  return [
    teamRoute(runtime, "outcomes", {
      method: "GET",
      path: SETS,
      summary: "A team's replay sets, newest first",
      description: "With those whose station left its line; with `line` and `station` only the sets of that station.",
      access: "any",
      query: ofStation,
      answers: { 200: listed },
      problems: ["invalid"],
      handle: async (request, team) => {
        const { line: lineId, station: stationKey } = request.query;
        if ((lineId === undefined) !== (stationKey === undefined)) {
          return invalid(lineId === undefined ? "line" : "station", "Line and station must be given together.");
        }
        const isAll = lineId === undefined || stationKey === undefined;
        const place = isAll ? null : granted(findStationByKey(reading, team, { lineId, stationKey }));
        return { status: 200, body: await viewSets(runtime, request, team, place) };
      },
    }),
    subjectRoute(stationSubject(runtime, "read"), {
      method: "GET",
      path: `${STATION}/replay-sets`,
      summary: "A station's replay sets, newest first",
      access: "any",
      answers: { 200: listed },
      handle: async (request, { lineId, stationId, ...team }) => {
        return { status: 200, body: await viewSets(runtime, request, team, { lineId, stationId }) };
      },
    }),
    subjectRoute(setSubject(runtime, "read"), {
      method: "GET",
      path: `${SETS}/{setId}`,
      summary: "Read a replay set",
      access: "any",
      answers: { 200: replaySetSchema },
      handle: (_request, { workspaceId, set }) => ({ status: 200, body: replaySetView(reading, workspaceId, set) }),
    }),
  ];
}

function runRoutes(runtime: Runtime): readonly Route[] {
  const { reading } = runtime;
  return [
    subjectRoute(stationSubject(runtime, "read"), {
      method: "GET",
      path: `${STATION}/replayable-runs`,
      summary: "The station's latest 50 ended runs of tasks, newest first",
      description: "Each with why it cannot be repeated, and with the sets that it is in.",
      access: "any",
      answers: { 200: runsListed },
      handle: async (request, station) => {
        const found = await readPage(runtime, request, latestRuns(station));
        return { status: 200, body: { items: await viewRuns(runtime, request, station, found) } };
      },
    }),
    subjectRoute(setSubject(runtime, "read"), {
      method: "GET",
      path: `${SETS}/{setId}/suggestions`,
      summary: "Up to 5 recent runs that would even out how the set's runs turned out, newest first",
      description: "Of the latest 50 runs of the station that can be repeated and are not in the set. None is added.",
      access: "any",
      answers: { 200: runsListed },
      handle: async (request, { workspaceId, set }) => {
        const of = { ...set, setId: set.id, workspaceId };
        const found = await readPage(runtime, request, candidatesFor(of));
        const candidates = await viewRuns(runtime, request, of, found);
        const { entries } = replaySetView(reading, workspaceId, set);
        return { status: 200, body: { items: suggestRuns(entries, candidates) } };
      },
    }),
  ];
}

/** The sets of a team or of one station, all as of one moment. */
async function viewSets(
  runtime: Pick<Runtime, "view">,
  request: Pick<RouteRequest, "pause">,
  team: Parameters<typeof listReplaySets>[1],
  place: Parameters<typeof listReplaySets>[2],
) {
  const view = runtime.view();
  try {
    const sets = listReplaySets(view, team, place);
    return { items: await inPieces(sets, request, (set) => replaySetView(view, team.workspaceId, set), 1) };
  } finally {
    view.close();
  }
}

/** Runs as a list shows them. */
async function viewRuns(
  { reading }: Pick<Runtime, "reading">,
  request: Pick<RouteRequest, "pause">,
  station: Parameters<typeof replayableRunView>[1],
  found: readonly { readonly runId: string }[],
) {
  const views = await inPieces(found, request, ({ runId }) => replayableRunView(reading, station, runId), RUNS_AT_ONCE);
  return views.flat();
}
