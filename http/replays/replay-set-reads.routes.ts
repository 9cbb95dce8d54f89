import { z } from "zod";
import { invalid } from "../../actors/refusal.js";
import { findStationByKey, listReplaySets, type VisibleSet } from "../../actors/replays/replay-set.queries.js";
import {
  replayableRunSchema,
  replayableRunView,
  replaySetSchema,
  replaySetView,
} from "../../actors/replays/replay-set.view.js";
import { candidatesFor, latestRuns } from "../../actors/replays/replayable-run.js";
import { suggestRuns } from "../../actors/replays/suggestions.js";
import type { Runtime } from "../../runtime/runtime.js";
import { readPage } from "../page-reading.js";
import { granted } from "../refused.js";
import type { Route, RouteRequest } from "../route.js";
import { subjectRoute } from "../subject-route.js";
import { teamRoute } from "../team-route.js";
import { setSubject, stationSubject } from "./replay-subjects.js";

const STATION = "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}";
const SETS = "/api/teams/{teamId}/replay-sets";
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
        return { status: 200, body: await viewSets(runtime, request, team, listReplaySets(reading, team, place)) };
      },
    }),
    subjectRoute(stationSubject(runtime, "read"), {
      method: "GET",
      path: `${STATION}/replay-sets`,
      summary: "A station's replay sets, newest first",
      access: "any",
      answers: { 200: listed },
      handle: async (request, { workspaceId, teamId, lineId, stationId }) => {
        const sets = listReplaySets(reading, { workspaceId, teamId }, { lineId, stationId });
        return { status: 200, body: await viewSets(runtime, request, { workspaceId }, sets) };
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
        const items = found.flatMap(({ runId }) => replayableRunView(reading, station, runId));
        return { status: 200, body: { items } };
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
        const candidates = found.flatMap(({ runId }) => replayableRunView(reading, of, runId));
        const { entries } = replaySetView(reading, workspaceId, set);
        return { status: 200, body: { items: suggestRuns(entries, candidates) } };
      },
    }),
  ];
}

/** Sets as a list shows them; other work runs in between. */
async function viewSets(
  { reading }: Pick<Runtime, "reading">,
  { pause }: Pick<RouteRequest, "pause">,
  { workspaceId }: Pick<VisibleSet, "workspaceId">,
  sets: ReturnType<typeof listReplaySets>,
) {
  const items = [];
  for (const set of sets) {
    if (items.length > 0) await pause();
    items.push(replaySetView(reading, workspaceId, set));
  }
  return { items };
}
