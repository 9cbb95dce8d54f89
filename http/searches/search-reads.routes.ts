import { z } from "zod";
import { configPullRequestSchema } from "../../actors/config-pull-requests/config-pull-request.js";
import { findConfigPullRequest } from "../../actors/config-pull-requests/config-pull-request.queries.js";
import { configPullRequestView } from "../../actors/config-pull-requests/config-pull-request.view.js";
import { searchRunSchema, searchRunView } from "../../actors/searches/reads/search-run.view.js";
import { searchItemSchema, searchSchema } from "../../actors/searches/reads/search-schemas.js";
import type { SearchRow } from "../../actors/searches/search/search.js";
import { findStoredSearch, searchesOfStation, searchesOfTeam } from "../../actors/searches/search/search.queries.js";
import { SearchMemory } from "../../actors/searches/search/search-memory.js";
import { byId, readListPageInSlices } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { inPieces, type ReadSlice, readPage } from "../wire/page-reading.js";
import { cursor, nextPage, pageSize } from "../wire/paging.js";
import { stationSubject } from "../wire/replay-subjects.js";
import type { Route, RouteRequest } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";
import { teamRoute } from "../wire/team-route.js";
import { readSearch, readSearchItem, type SearchRead } from "./search-reading.js";
import { searchRunSubject, searchSubject } from "./search-subjects.js";

const STATION = "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}";

const page = z.strictObject({
  before: cursor
    .optional()
    .describe("The id of a search; returns older searches. Returns none if the list does not contain that search."),
  limit: pageSize().describe("The number of searches."),
});

const listed = z.strictObject({
  items: z.array(searchItemSchema).describe("The searches, newest first."),
  next: nextPage("before"),
});

interface SearchReads {
  readonly runtime: Runtime;
}

/** The routes that read searches. */
export function searchReadRoutes({ runtime }: SearchReads): readonly Route[] {
  return [...listRoutes(runtime), readRoute(runtime, new SearchMemory()), runRoute(runtime)];
}

function listRoutes(runtime: Runtime): readonly Route[] {
  return [
    subjectRoute(stationSubject(runtime, "read"), {
      method: "GET",
      path: `${STATION}/searches`,
      summary: "List a station's searches, newest first",
      description: "Read a single search for its iterations and candidates. A station keeps the latest 50 searches.",
      access: "any",
      query: page,
      answers: { 200: listed },
      handle: (request, station) =>
        answerPage(runtime, request, station.workspaceId, (page) => searchesOfStation(station, page)),
    }),
    teamRoute(runtime, "outcomes", {
      method: "GET",
      path: "/api/teams/{teamId}/searches",
      summary: "List a team's searches, newest first",
      description: "Lists the searches of all stations. Read a single search for its iterations and candidates.",
      access: "any",
      query: page,
      answers: { 200: listed },
      handle: (request, team) => answerPage(runtime, request, team.workspaceId, (page) => searchesOfTeam(team, page)),
    }),
  ];
}

async function answerPage(
  runtime: Runtime,
  request: Pick<RouteRequest, "signal" | "pause" | "goOn"> & { readonly query: z.infer<typeof page> },
  workspaceId: string,
  slicesOf: (page: { readonly limit: number; readonly before: string | undefined }) => ReadSlice<SearchRow>,
) {
  const { rows, next } = await readListPageInSlices(
    request.query,
    ({ limit, before }) => readPage(runtime, request, slicesOf({ limit, before })),
    byId,
  );
  const items = await inPieces(rows, request, (row) => readSearchItem(runtime.reading, workspaceId, row));
  return { status: 200, body: { items, next } };
}

function readRoute(runtime: Runtime, memory: SearchMemory): Route {
  return subjectRoute(searchSubject(runtime, "read"), {
    method: "GET",
    path: "/api/teams/{teamId}/searches/{searchId}",
    summary: "Read a search",
    description:
      "Includes its split, iterations, candidates and frontier. Candidates are chosen by their gain on the " +
      "searched runs: `heldOutGain` shows whether the gain is real.",
    access: "any",
    answers: { 200: searchSchema },
    handle: async (request, { workspaceId, search: { id } }) => {
      const view = runtime.view();
      try {
        const search = findStoredSearch(view, workspaceId, id);
        if (search === undefined) return { refused: "not-found" };
        const { pause, signal } = request;
        const read: SearchRead = { view, latest: runtime.reading, memory, pause, signal };
        return { status: 200, ...(await readSearch(read, workspaceId, search)) };
      } finally {
        view.close();
      }
    },
  });
}

function runRoute(runtime: Runtime): Route {
  const { reading } = runtime;
  return subjectRoute(searchRunSubject(runtime), {
    method: "GET",
    path: "/api/teams/{teamId}/search-runs/{runId}",
    summary: "Read a run of a search's agent, with its search, its iteration and its steps",
    description: "Returns a page of steps: read the next page with `after`.",
    access: "any",
    query: z.strictObject({
      after: z.coerce
        .number("must be a number")
        .int()
        .min(-1)
        .default(-1)
        .describe("The index of the last known step; returns later steps. By default returns all steps."),
      limit: pageSize(200).describe("The number of steps."),
    }),
    answers: { 200: searchRunSchema },
    handle: ({ query }, found) => ({ status: 200, body: searchRunView(reading, found, query) }),
  });
}

/** The route that reads config pull requests, for callers who may read the team's replays. */
export function configPullRequestRoutes({ runtime: { reading } }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    subjectRoute(
      {
        find: ({ caller, params: { teamId = "", pullRequestId = "" } }) =>
          findConfigPullRequest(reading, caller, { teamId, pullRequestId }),
      },
      {
        method: "GET",
        path: "/api/teams/{teamId}/config-pull-requests/{pullRequestId}",
        summary: "Read a config pull request",
        description: "For a search candidate that a person picked.",
        access: "any",
        answers: { 200: configPullRequestSchema },
        handle: (_request, row) => ({ status: 200, body: configPullRequestView(row) }),
      },
    ),
  ];
}
