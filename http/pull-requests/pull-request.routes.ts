import { z } from "zod";
import { pullRequestRoles, pullRequestSchema, pullRequestStates } from "../../actors/pull-requests/pull-request.js";
import { pullRequestRef } from "../../actors/pull-requests/pull-request.messages.js";
import {
  findPullRequest,
  findPullRequestToAct,
  getPullRequestNow,
  listPullRequests,
  type VisiblePullRequest,
} from "../../actors/pull-requests/pull-request.queries.js";
import {
  pullRequestDetailSchema,
  pullRequestDetailView,
  pullRequestView,
} from "../../actors/pull-requests/pull-request.view.js";
import { findPullRequestLog } from "../../actors/pull-requests/pull-request-log.messages.js";
import type { Sealer } from "../../actors/sealer.js";
import { byId, readListPageInSlices } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { countAsking, createAskingLimit } from "../limits/asking-limit.js";
import { inPieces, readPage } from "../wire/page-reading.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import { granted } from "../wire/refused.js";
import { findIdempotency, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import type { Route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";
import { teamRoute } from "../wire/team-route.js";

export interface PullRequestRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

const listing = z.strictObject({
  role: z
    .enum(pullRequestRoles, `must be one of ${pullRequestRoles.join(", ")}`)
    .optional()
    .describe("Returns only pull requests with this role."),
  state: z
    .enum(pullRequestStates, `must be one of ${pullRequestStates.join(", ")}`)
    .optional()
    .describe("Returns only pull requests in this state."),
  before: idCursor("pr"),
  limit: pageSize(),
});

/** The routes for pull requests of tasks, and for people's pull requests in the lines' repositories. */
export function pullRequestRoutes(options: PullRequestRoutesOptions): readonly Route[] {
  return [listRoute(options), readRoute(options), retryRoute(options), refreshRoute(options)];
}

function listRoute({ runtime }: PullRequestRoutesOptions): Route {
  return teamRoute(runtime, "outcomes", {
    method: "GET",
    path: "/api/teams/{teamId}/pull-requests",
    operation: "listPullRequests",
    summary: "List a team's pull requests, newest first",
    description:
      "Lists pull requests of the team's tasks, and those of people that the code host reported in repositories of " +
      "its lines.",
    access: "any",
    query: listing,
    answers: {
      200: z.strictObject({
        items: z.array(pullRequestSchema).describe("The pull requests of this page, newest first."),
        next: nextPage("before"),
      }),
    },
    handle: async (request, team) => {
      const { query } = request;
      const { rows, next } = await readListPageInSlices(
        query,
        (page) => readPage(runtime, request, listPullRequests(team, page)),
        byId,
      );
      return { status: 200, body: { items: await inPieces(rows, request, pullRequestView), next } };
    },
  });
}

function readRoute({ runtime: { reading } }: PullRequestRoutesOptions): Route {
  const seen: Subject<VisiblePullRequest> = {
    find: ({ caller, params }) => findPullRequest(reading, caller, params.id ?? ""),
  };
  return subjectRoute(seen, {
    method: "GET",
    path: "/api/pull-requests/{id}",
    operation: "getPullRequest",
    summary: "Read a pull request, with the paths that it changes",
    description: "Returns what the service has stored. Use `refresh` to read the code host.",
    access: "any",
    answers: { 200: pullRequestDetailSchema },
    handle: (_request, { workspaceId, row }) => ({
      status: 200,
      body: pullRequestDetailView(reading, workspaceId, row),
    }),
  });
}

function toActOn({ reading }: Runtime): Subject<VisiblePullRequest> {
  return { find: ({ caller, params }) => findPullRequestToAct(reading, caller, params.id ?? "") };
}

function retryRoute({ runtime, sealer }: PullRequestRoutesOptions): Route {
  return subjectRoute(toActOn(runtime), {
    method: "POST",
    path: "/api/pull-requests/{id}/retry",
    operation: "retryPullRequest",
    summary: "Retry opening a pull request that failed",
    description: "Works only if its branch was pushed. If not, retry the task: its next run pushes the branch.",
    access: "any",
    body: z.strictObject({}),
    answers: { 200: { body: pullRequestSchema, headers: replayedHeader } },
    problems: ["conflict"],
    handle: async (request, { workspaceId, row }) => {
      const idempotency = findIdempotency(sealer, request, `retry ${row.id}`);
      const to = pullRequestRef(workspaceId, row.id);
      const { pullRequest, replayed } = granted(
        await runtime.ask(to, { type: "pull-request.retry", ...(idempotency && { idempotency }) }),
      );
      return { status: 200, body: pullRequestView(pullRequest), headers: replayHeaders(replayed) };
    },
  });
}

function refreshRoute({ runtime }: PullRequestRoutesOptions): Route {
  const asking = createAskingLimit(runtime.clock);
  return subjectRoute(toActOn(runtime), {
    method: "POST",
    path: "/api/pull-requests/{id}/refresh",
    operation: "refreshPullRequest",
    summary: "Refresh a pull request from the code host",
    description: "Responds at once with the current state. Streams receive what the code host reports.",
    access: "any",
    body: z.strictObject({}),
    answers: { 200: pullRequestSchema },
    problems: ["conflict", "too-many-requests"],
    handle: async ({ caller }, found) => {
      countAsking(asking, caller);
      await refresh(runtime, found);
      return { status: 200, body: pullRequestView(getPullRequestNow(runtime.reading, found)) };
    },
  });
}

/**
 * Requests the pull request's current state from the code host. Throws {@link Refused} if the pull request's actor
 * refuses the request.
 */
async function refresh(runtime: Runtime, { workspaceId, row }: VisiblePullRequest): Promise<void> {
  const { id, role, host, installationId, repository, number } = row;
  if (role === "own" || number === null) {
    granted(await runtime.ask(pullRequestRef(workspaceId, id), { type: "pull-request.refresh" }));
    return;
  }
  const { repositoryId } = row;
  const news = { installationId, repository, repositoryId, about: { number, picture: null, reviews: [] } };
  const log = findPullRequestLog(runtime.reading, workspaceId, row);
  await runtime.ask(log, { type: "host.news", host, news });
}
