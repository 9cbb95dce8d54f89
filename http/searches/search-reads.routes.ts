import { z } from "zod";
import { configPullRequestSchema } from "../../actors/config-pull-requests/config-pull-request.js";
import { findConfigPullRequest } from "../../actors/config-pull-requests/config-pull-request.queries.js";
import { configPullRequestView } from "../../actors/config-pull-requests/config-pull-request.view.js";
import { searchRunSchema, searchRunView } from "../../actors/searches/reads/search-run.view.js";
import { searchItemSchema, searchSchema } from "../../actors/searches/reads/search-schemas.js";
import type { SearchRow } from "../../actors/searches/search/search.js";
import { findStoredSearch, searchesOfStation, searchesOfTeam } from "../../actors/searches/search/search.queries.js";
import { SearchMemory } from "../../actors/searches/search/search-memory.js";
import { byId, toListPage, withOneMore } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { inPieces, readPage } from "../wire/page-reading.js";
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
  items: z.array(searchItemSchema),
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
      access: "any",
      query: page,
      answers: { 200: listed },
      handle: async (request, station) => {
        const { limit, before } = withOneMore(request.query);
        const found = await readPage(runtime, request, searchesOfStation(station, { limit, before }));
        return answerPage(runtime, request, { ...station, found });
      },
    }),
    teamRoute(runtime, "outcomes", {
      method: "GET",
      path: "/api/teams/{teamId}/searches",
      summary: "List a team's searches, newest first",
      access: "any",
      query: page,
      answers: { 200: listed },
      handle: async (request, team) => {
        const { limit, before } = withOneMore(request.query);
        const found = await readPage(runtime, request, searchesOfTeam(team, { limit, before }));
        return answerPage(runtime, request, { ...team, found });
      },
    }),
  ];
}

interface Page {
  readonly workspaceId: string;
  /** The rows of the page, and one more row if there are further ones. */
  readonly found: readonly SearchRow[];
}

async function answerPage(
  { reading }: Runtime,
  request: Pick<RouteRequest, "pause"> & { readonly query: { readonly limit: number } },
  { workspaceId, found }: Page,
) {
  const { rows, next } = toListPage(found, request.query, byId);
  const items = await inPieces(rows, request, (row) => readSearchItem(reading, workspaceId, row));
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
