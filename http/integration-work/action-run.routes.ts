import { z } from "zod";
import { actionRunSchema, actionRunStates } from "../../actors/integration-work/actions/action-run.js";
import { actionRunRef } from "../../actors/integration-work/actions/action-run.messages.js";
import { findIntegrationRun, listActionRuns } from "../../actors/integration-work/actions/action-run.queries.js";
import { actionRunView } from "../../actors/integration-work/actions/action-run.view.js";
import {
  findIntegrationFor,
  findIntegrationOfOutcomes,
} from "../../actors/integration-work/deliveries/delivery.queries.js";
import { scheduleSchema, schedulesView } from "../../actors/integration-work/schedules/schedule.view.js";
import type { VisibleIntegration } from "../../actors/integrations/connection.queries.js";
import type { Sealer } from "../../actors/sealer.js";
import { byId, readListPageInSlices } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { inPieces, readPage } from "../wire/page-reading.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import { granted } from "../wire/refused.js";
import { findIdempotency, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import type { Route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";

export interface ActionRunRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

const at = "/api/integrations/{integrationId}/action-runs";

const listing = z.strictObject({
  state: z
    .enum(actionRunStates, `must be one of ${actionRunStates.join(", ")}`)
    .optional()
    .describe("Returns only action runs in this state."),
  before: idCursor("act"),
  limit: pageSize(),
});

/** The routes for action runs: the work of an integration's bindings and schedules. */
export function actionRunRoutes({ runtime, sealer }: ActionRunRoutesOptions): readonly Route[] {
  const { reading } = runtime;
  const seen: Subject<VisibleIntegration> = {
    find: ({ caller, params }) => findIntegrationOfOutcomes(reading, caller, params.integrationId ?? ""),
  };
  const configured: Subject<VisibleIntegration> = {
    find: ({ caller, params }) => findIntegrationFor(reading, caller, params.integrationId ?? "", "configure"),
    problems: ["forbidden"],
  };
  return [
    subjectRoute(seen, {
      method: "GET",
      path: at,
      operation: "listActionRuns",
      summary: "List the action runs of an integration's bindings and schedules, newest first",
      description:
        "Lists the last 10,000 of the past 30 days, with every attempt. Excludes tool calls. Also returns the " +
        "next run time of each schedule.",
      access: "any",
      query: listing,
      answers: {
        200: z.strictObject({
          items: z.array(actionRunSchema).describe("The action runs of this page, newest first."),
          schedules: z.array(scheduleSchema).describe("The integration's schedules, the same on each page."),
          next: nextPage("before"),
        }),
      },
      handle: async (request, integration) => {
        const { query } = request;
        const { rows, next } = await readListPageInSlices(
          query,
          (page) => readPage(runtime, request, listActionRuns(integration, page)),
          byId,
        );
        const items = await inPieces(rows, request, actionRunView);
        return { status: 200, body: { items, schedules: schedulesView(reading, integration), next } };
      },
    }),
    subjectRoute(configured, {
      method: "POST",
      path: `${at}/{actionRunId}/resend`,
      operation: "resendActionRun",
      summary: "Run an action again with its original input",
      description: "Only for ended actions. Runs the action as now defined, with the task data of the original run.",
      access: "any",
      body: z.strictObject({}),
      headers: { "idempotency-key": "optional" },
      answers: { 202: { body: actionRunSchema, headers: replayedHeader } },
      problems: ["conflict"],
      handle: async (request, integration) => {
        const { workspaceId, id: integrationId } = integration;
        const runId = request.params.actionRunId ?? "";
        const idempotency = findIdempotency(sealer, request, `action-run.resend ${integrationId} ${runId}`);
        const to = actionRunRef(workspaceId, runtime.newId("act"));
        const { id, replayed } = granted(
          await runtime.ask(to, { type: "action.resend", integrationId, runId, idempotency }),
        );
        const body = actionRunView(granted(findIntegrationRun(reading, integration, id)));
        return { status: 202, headers: replayHeaders(replayed), body };
      },
    }),
  ];
}
