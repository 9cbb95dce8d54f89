import { z } from "zod";
import { invalid } from "../../actors/refusal.js";
import { findStationByKey, listReplaySets, type VisibleSet } from "../../actors/replays/sets/replay-set.queries.js";
import {
  entryView,
  listEntries,
  type RunsPlace,
  replayableRunSchema,
  replayableRunView,
  replaySetSchema,
  replaySetView,
} from "../../actors/replays/sets/replay-set.view.js";
import { candidatesFor, latestRuns } from "../../actors/replays/sets/replayable-run.js";
import { findStationNow } from "../../actors/replays/sets/run-refusal.js";
import { readHealth } from "../../actors/replays/sets/set-health.queries.js";
import { suggestRuns } from "../../actors/replays/sets/suggestions.js";
import { inPieces, readPage } from "../wire/page-reading.js";
import { granted } from "../wire/refused.js";
import { setSubject, stationSubject } from "../wire/replay-subjects.js";
import type { Route, RouteRequest } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";
import { teamRoute } from "../wire/team-route.js";
import { type ReplayRead, type ReplayReads, readAtOnce } from "./replay-reading.js";

const STATION = "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}";
const SETS = "/api/teams/{teamId}/replay-sets";
/** Number of runs to read between pauses. Each one takes several rows. */
const RUNS_AT_ONCE = 10;

const listed = z.strictObject({ items: z.array(replaySetSchema).describe("The replay sets, newest first.") });
const runsListed = z.strictObject({
  items: z.array(replayableRunSchema).describe("The ended runs of the station, newest first."),
});

const ofStation = z.strictObject({
  line: z.string().optional().describe("The line's id; with `station`."),
  station: z.string().optional().describe("The station's key; with `line`."),
});

/** The routes that read replay sets, and the runs that may be added to them. */
export function replaySetReadRoutes(reads: ReplayReads): readonly Route[] {
  return [...setRoutes(reads), ...runRoutes(reads)];
}

function setRoutes(reads: ReplayReads): readonly Route[] {
  const { runtime } = reads;
  const { reading } = runtime;
  return [
    teamRoute(runtime, "outcomes", {
      method: "GET",
      path: SETS,
      summary: "List a team's replay sets, newest first",
      description:
        "Includes sets whose station left its line. With `line` and `station`, lists only the sets of that station.",
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
        return { status: 200, body: await viewSets(reads, request, team, place) };
      },
    }),
    subjectRoute(stationSubject(runtime, "read"), {
      method: "GET",
      path: `${STATION}/replay-sets`,
      summary: "List a station's replay sets, newest first",
      description: "Includes the runs, health and composition of each set.",
      access: "any",
      answers: { 200: listed },
      handle: async (request, { lineId, stationId, ...team }) => {
        return { status: 200, body: await viewSets(reads, request, team, { lineId, stationId }) };
      },
    }),
    subjectRoute(setSubject(runtime, "read"), {
      method: "GET",
      path: `${SETS}/{setId}`,
      summary: "Read a replay set",
      description: "Shows its runs, whether each can still be repeated, and how reliable the set's figures are.",
      access: "any",
      answers: { 200: replaySetSchema },
      handle: async (request, { workspaceId, set }) => {
        const body = await readAtOnce(reads, request, (read) => viewSet(read, workspaceId, set));
        return { status: 200, body };
      },
    }),
  ];
}

function runRoutes(reads: ReplayReads): readonly Route[] {
  const { runtime } = reads;
  const { reading } = runtime;
  return [
    subjectRoute(stationSubject(runtime, "read"), {
      method: "GET",
      path: `${STATION}/replayable-runs`,
      summary: "List the station's latest 50 ended task runs, newest first",
      description: "Shows for each run why it cannot be repeated, and the sets that contain it.",
      access: "any",
      answers: { 200: runsListed },
      handle: async (request, station) => {
        const found = await readPage(runtime, request, latestRuns(station));
        const place = { ...station, station: findStationNow(reading, station.workspaceId, station) };
        const items = await readAtOnce(reads, request, (read) => viewRuns(read, place, found));
        return { status: 200, body: { items } };
      },
    }),
    subjectRoute(setSubject(runtime, "read"), {
      method: "GET",
      path: `${SETS}/{setId}/suggestions`,
      summary: "List up to 5 recent runs that would balance the set's outcomes, newest first",
      description: "Chosen from the station's latest 50 repeatable runs outside the set. Adds none of them.",
      access: "any",
      answers: { 200: runsListed },
      handle: async (request, { workspaceId, set }) => {
        const of = { ...set, setId: set.id, workspaceId };
        const found = await readPage(runtime, request, candidatesFor(of));
        const place = { workspaceId, station: findStationNow(reading, workspaceId, set) };
        const items = await readAtOnce(reads, request, async (read) => {
          const entries = await viewEntries(read, place, set);
          return suggestRuns(entries, await viewRuns(read, place, found));
        });
        return { status: 200, body: { items } };
      },
    }),
  ];
}

/** Reads the replay sets of a team or of one station, all as of one moment. */
function viewSets(
  reads: ReplayReads,
  request: Pick<RouteRequest, "pause" | "signal">,
  team: Parameters<typeof listReplaySets>[1],
  place: Parameters<typeof listReplaySets>[2],
) {
  return readAtOnce(reads, request, async (read) => {
    const items = [];
    for (const set of listReplaySets(read.view, team, place)) {
      items.push(await viewSet(read, team.workspaceId, set));
      read.signal.throwIfAborted();
    }
    return { items };
  });
}

async function viewSet(read: ReplayRead, workspaceId: string, set: VisibleSet["set"]) {
  const station = findStationNow(read.view, workspaceId, set);
  const entries = await viewEntries(read, { workspaceId, station }, set);
  await read.pause();
  const health = readHealth(read.view, workspaceId, set, read);
  await read.pause();
  return replaySetView(set, { station, entries, health });
}

function viewEntries({ view, pause }: ReplayRead, place: RunsPlace, set: VisibleSet["set"]) {
  const rows = listEntries(view, place.workspaceId, set);
  return inPieces(rows, { pause }, (entry) => entryView(view, place, entry), RUNS_AT_ONCE);
}

/** Reads runs in the form used in lists. */
async function viewRuns({ view, pause }: ReplayRead, place: RunsPlace, found: readonly { readonly runId: string }[]) {
  return (await inPieces(found, { pause }, ({ runId }) => replayableRunView(view, place, runId), RUNS_AT_ONCE)).flat();
}
