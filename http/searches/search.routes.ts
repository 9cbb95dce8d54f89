import { z } from "zod";
import { configPullRequestSchema } from "../../actors/config-pull-requests/config-pull-request.js";
import { configPullRequestRef } from "../../actors/config-pull-requests/config-pull-request.messages.js";
import { configPullRequestView } from "../../actors/config-pull-requests/config-pull-request.view.js";
import type { JudgingSetup } from "../../actors/lines/fingerprint.js";
import { ReplayMemory } from "../../actors/replays/replay/replay-memory.js";
import { findStoredSet, setNotFound } from "../../actors/replays/sets/replay-set.queries.js";
import { stationLeft } from "../../actors/replays/sets/replay-set.transitions.js";
import { findStationNow } from "../../actors/replays/sets/run-refusal.js";
import type { Sealer } from "../../actors/sealer.js";
import { findPickable } from "../../actors/searches/candidates/pick.queries.js";
import {
  efforts,
  estimateSchema,
  searchItemSchema,
  searchWarningSchema,
} from "../../actors/searches/reads/search-schemas.js";
import { objectives } from "../../actors/searches/rules/objective.js";
import { type SearchTerms, searchRef } from "../../actors/searches/search/search.messages.js";
import { readSearchBasis } from "../../actors/searches/search/search-basis.js";
import { estimateSearch } from "../../actors/searches/starting/estimate-search.js";
import type { Runtime } from "../../runtime/runtime.js";
import { granted } from "../wire/refused.js";
import { findIdempotency, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import type { Route } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";
import { searchedStationSubject, searchSubject } from "./search-subjects.js";

/**
 * Body schemas of estimates and starts. They check only the form. The limits are checked with the other rules
 * (`actors/searches/starting/refuse-terms.ts`), after the checks for missing objects and for conflicts.
 */

/** A schema as it appears in the OpenAPI document. */
interface Documented {
  readonly jsonSchema: { type?: unknown; enum?: unknown };
}

/**
 * A number that the OpenAPI document describes as an integer from 1 to `max`. The schema itself does not check the
 * limits.
 */
function countTo(max: number, description: string) {
  const override = ({ jsonSchema }: Documented): void => {
    jsonSchema.type = "integer";
  };
  return z.number("must be a number").meta({ description, minimum: 1, maximum: max, override });
}

/** A nullable text that the document describes as one of `texts`. */
function toTextChoice(texts: readonly string[], description: string) {
  const override = ({ jsonSchema }: Documented): void => {
    jsonSchema.enum = [...texts, null];
  };
  return z.string("must be a text").nullable().default(null).meta({ description, override });
}

const setId = z
  .string("must be a text")
  .describe("A replay set of the station. The set must have runs of at least 5 different tasks.");

const budget = z
  .strictObject({
    iterations: countTo(10, "The maximum number of runs of the search's agent."),
    perIteration: countTo(5, "The maximum number of candidates that each run of the agent may propose."),
    ceiling: z
      .strictObject({
        amount: z.number("must be a number").meta({
          description:
            "The maximum amount that the search may spend: more than 0, with at least 0.01 for each of its replay " +
            "runs.",
          maximum: 1_000,
        }),
        currency: z.string("must be a text").describe("The ISO 4217 code, in capital letters."),
      })
      .describe("The limit on the cost of the whole search: its replays, their judging and its agent."),
    concurrency: countTo(10, "Number of replay copies that run at the same time.").default(4),
    repeats: countTo(5, "Number of copies of each run in each replay.").default(1),
  })
  .describe("The limits of the search.");

const objective = toTextChoice(
  objectives,
  "`success`: find configs that succeed more often. `cost`: find configs that succeed as often as the live " +
    "config, but cost less. If it is absent or null, the objective is `cost` when the live config succeeds on more " +
    "than 95 % of the set, and `success` otherwise.",
);

const exampleBudget = { iterations: 4, perIteration: 3, ceiling: { amount: 20, currency: "EUR" } };

const repeatable = { "idempotency-key": "optional" } as const;

const agent = z
  .strictObject({
    harness: z.string("must be a text").describe("A harness that a runner of the workspace can start."),
    model: z
      .string("must be a text")
      .nullable()
      .default(null)
      .meta({ description: "The agent's model; null for the harness's default.", minLength: 1, maxLength: 60 }),
    effort: toTextChoice(efforts, "The agent's effort level; null for the harness's default."),
  })
  .describe("The agent that proposes candidates.");

const asked = z.strictObject({ setId, budget, agent, objective });

const started = z
  .strictObject({
    id: z.string().describe("The id of the search (`srch_…`)."),
    seedReplayId: z.string().describe("The replay of the live config that becomes the set's baseline."),
    objective: searchItemSchema.shape.objective,
    warnings: z.array(searchWarningSchema).describe("As in an estimate. The search started despite these warnings."),
  })
  .meta({ title: "started search", description: "A started search, with what makes its result unreliable." });

interface SearchRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

/** The routes that start and stop searches and pick their candidates, for callers who may plan. */
export function searchRoutes(options: SearchRoutesOptions): readonly Route[] {
  return [startRoute(options), stopRoute(options), pickRoute(options)];
}

function startRoute({ runtime, sealer }: SearchRoutesOptions): Route {
  return subjectRoute(searchedStationSubject(runtime, "plan"), {
    method: "POST",
    path: "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/searches",
    isCheckedFirst: true,
    summary: "Start a search for a better config of a station",
    description:
      "Takes a snapshot of the live config, selects the held-out tasks, and replays the live config on every " +
      "run of the set. The search's agent then proposes candidates based on the searched runs, and the search " +
      "confirms the best candidates on the held-out tasks. One ceiling covers all of this. A station has one " +
      "active search at a time, and keeps the latest 50.",
    access: "any",
    body: asked,
    example: { setId: "rset_1", budget: exampleBudget, agent: { harness: "command" }, objective: "success" },
    headers: repeatable,
    answers: { 201: { body: started, headers: replayedHeader } },
    problems: ["conflict"],
    handle: async (request, { workspaceId, teamId, lineId, stationId }) => {
      const { caller, client, body } = request;
      const terms: SearchTerms = body;
      const idempotency = findIdempotency(sealer, request, `search.start ${lineId} ${stationId}`);
      const message = { type: "search.start", caller, client, teamId, lineId, stationId, terms, idempotency } as const;
      const to = searchRef(workspaceId, runtime.newId("srch"));
      const { replayed, searchId: id, ...answer } = granted(await runtime.ask(to, message));
      return { status: 201, body: { id, ...answer }, headers: replayHeaders(replayed) };
    },
  });
}

function stopRoute({ runtime, sealer }: SearchRoutesOptions): Route {
  return subjectRoute(searchSubject(runtime, "plan"), {
    method: "POST",
    path: "/api/teams/{teamId}/searches/{searchId}/stop",
    summary: "Stop a search",
    description: "Withdraws or stops the run of the search's agent and the search's replays, and starts nothing more.",
    access: "any",
    headers: repeatable,
    answers: { 204: { body: null, headers: replayedHeader } },
    problems: ["conflict"],
    handle: async (request, { workspaceId, search: { id } }) => {
      const { caller, client } = request;
      const idempotency = findIdempotency(sealer, request, `search.stop ${id}`);
      const message = { type: "search.stop", caller, client, idempotency } as const;
      const { replayed } = granted(await runtime.ask(searchRef(workspaceId, id), message));
      return { status: 204, headers: replayHeaders(replayed) };
    },
  });
}

function pickRoute({ runtime, sealer }: SearchRoutesOptions): Route {
  return subjectRoute(searchSubject(runtime, "plan"), {
    method: "POST",
    path: "/api/teams/{teamId}/searches/{searchId}/candidates/{candidateId}/pick",
    summary: "Pick a candidate: open a pull request that changes the line's config to it",
    description:
      "201 when the service starts opening the pull request: at the first pick, and at a pick after a refusal, " +
      "with the line's current source. 200 if the pull request is opening or open. The service opens it in the " +
      "repository of the line's `source`, through an installation of the code host that the workspace has " +
      "connected. Read the pull request for its status.",
    access: "any",
    headers: repeatable,
    answers: {
      200: configPullRequestSchema,
      201: { body: configPullRequestSchema, headers: replayedHeader },
    },
    problems: ["conflict"],
    handle: async (request, found) => {
      const { caller, client, params } = request;
      const candidate = granted(findPickable(runtime.reading, found, params.candidateId ?? ""));
      const { candidateId } = candidate;
      const idempotency = findIdempotency(sealer, request, `candidate.pick ${candidateId}`);
      const message = { type: "candidate.pick", caller, client, candidate, idempotency } as const;
      const to = configPullRequestRef(found.workspaceId, candidateId);
      const { pullRequest, isBegun, replayed } = granted(await runtime.ask(to, message));
      const body = configPullRequestView(pullRequest);
      return isBegun ? { status: 201, body, headers: replayHeaders(replayed) } : { status: 200, body };
    },
  });
}

interface EstimateRoutesOptions {
  readonly runtime: Runtime;
  readonly judging: JudgingSetup;
}

/** The route that estimates a search, for callers who may read the team's replays. It writes nothing. */
export function estimateRoutes({ runtime, judging }: EstimateRoutesOptions): readonly Route[] {
  const terms = { judging, memory: new ReplayMemory() };
  return [
    subjectRoute(searchedStationSubject(runtime, "read"), {
      method: "POST",
      path: "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/searches/estimate",
      isServedReadOnly: true,
      isCheckedFirst: true,
      summary: "Estimate the work and the maximum cost of a search, and what makes its result unreliable",
      description:
        "Stores nothing: `read` is enough. Assumes that the tasks with the most expensive runs are held out.",
      access: "any",
      body: z.strictObject({ setId, budget, objective }),
      example: { setId: "rset_1", budget: exampleBudget, objective: "success" },
      answers: { 200: estimateSchema },
      problems: ["invalid", "conflict"],
      handle: async ({ body: asked, pause }, { workspaceId, teamId, lineId, stationId }) => {
        const { reading } = runtime;
        const set = findStoredSet(reading, workspaceId, asked.setId);
        const isOfStation = set?.teamId === teamId && set.lineId === lineId && set.stationId === stationId;
        if (set === undefined || !isOfStation) return setNotFound(asked.setId);
        if (findStationNow(reading, workspaceId, set).station === undefined) return stationLeft;
        const basis = readSearchBasis(reading, workspaceId, set, terms);
        await pause();
        return { status: 200, body: granted(estimateSearch(basis, asked)) };
      },
    }),
  ];
}
