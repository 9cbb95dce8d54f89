import { z } from "zod";
import { findVisibleRun, type VisibleRun } from "../../actors/runs/run.queries.js";
import {
  runItemSchema,
  runItemView,
  runSchema,
  runView,
  stepPageView,
  stepSchema,
} from "../../actors/runs/run.view.js";
import { byId, readListPage } from "../../actors/tables/list-page.js";
import { findTaskOfOutcomes, listTaskRuns, type VisibleTask } from "../../actors/tasks/task.queries.js";
import type { Runtime } from "../../runtime/runtime.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import type { Route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";

const runPage = z.strictObject({
  items: z.array(runItemSchema).describe("The runs of this page, newest first."),
  next: nextPage("before"),
});

const stepListing = z.strictObject({
  after: z.coerce
    .number("must be a number")
    .int()
    .min(-1)
    .default(-1)
    .describe("Returns the steps after this index; -1, the default, starts with the first step."),
  limit: pageSize(200),
});

const stepPage = z.strictObject({
  items: z.array(stepSchema).describe("The steps of this page, in order."),
  next: nextPage("after"),
});

/** The routes that read runs, for callers who may read a team's outcomes. */
export function runRoutes({ runtime: { reading } }: { readonly runtime: Runtime }): readonly Route[] {
  const taskOfOutcomes: Subject<VisibleTask> = {
    find: ({ caller, params }) => findTaskOfOutcomes(reading, caller, params.taskId ?? ""),
  };
  const visibleRun: Subject<VisibleRun> = {
    find: ({ caller, params }) => findVisibleRun(reading, caller, params.runId ?? ""),
  };
  return [
    subjectRoute(taskOfOutcomes, {
      method: "GET",
      path: "/api/tasks/{taskId}/runs",
      summary: "List the runs of a task, newest first",
      description: "For callers who may read the team's outcomes. Steps and diffs have endpoints of their own.",
      access: "any",
      query: z.strictObject({ before: idCursor("run"), limit: pageSize() }),
      answers: { 200: runPage },
      handle: ({ query }, found) => {
        const { rows, next } = readListPage(query, (page) => listTaskRuns(reading, found, page), byId);
        const items = rows.map((run) => runItemView(reading, found.workspaceId, run));
        return { status: 200, body: { items, next } };
      },
    }),
    subjectRoute(visibleRun, {
      method: "GET",
      path: "/api/runs/{runId}",
      summary: "Read a run",
      description: "Includes the run's config and, after its end, the diff of each repository.",
      access: "any",
      query: z.strictObject({
        diff: z
          .enum(["true", "false"], "must be true or false")
          .default("true")
          .describe("`false` leaves `diff` and `own` of the checkouts null: `/diff` has the texts."),
      }),
      answers: { 200: runSchema },
      handle: ({ query }, found) => ({
        status: 200,
        body: runView(reading, found, { hasDiffs: query.diff === "true" }),
      }),
    }),
    subjectRoute(visibleRun, {
      method: "GET",
      path: "/api/runs/{runId}/steps",
      summary: "List the steps of a run, in order",
      description: "While the run is active, poll with `after`, or subscribe to the run's stream.",
      access: "any",
      query: stepListing,
      answers: { 200: stepPage },
      handle: ({ query }, { workspaceId, run }) => {
        const { steps, next } = stepPageView(reading, workspaceId, run.id, query);
        return { status: 200, body: { items: steps, next } };
      },
    }),
  ];
}
