import { z } from "zod";
import { runnerSchema } from "../../actors/runners/runner.js";
import { listRunners } from "../../actors/runners/runner.queries.js";
import { runnerView } from "../../actors/runners/runner.view.js";
import { seesRun, waitsForPerson } from "../../actors/runs/run.queries.js";
import { toListPage, withOneMore } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import type { Route } from "../wire/route.js";
import { workspaceRoute } from "../wire/workspace-route.js";

const listing = z.strictObject({
  after: idCursor("runner"),
  limit: pageSize(200),
});

/** The route that lists the current runners of a workspace. */
export function runnerRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  const { reading } = runtime;
  return [
    workspaceRoute(runtime, "sees", {
      method: "GET",
      path: "/api/workspaces/{slug}/runners",
      summary: "List the runners that are connected, or disconnected for less than a lease",
      access: "any",
      query: listing,
      answers: { 200: z.strictObject({ items: z.array(runnerSchema), next: nextPage("after") }) },
      handle: ({ caller, query }, { workspaceId }) => {
        const ofRuns = {
          sees: (runId: string) => seesRun(reading, caller, workspaceId, runId),
          waits: (runId: string) => waitsForPerson(reading, workspaceId, runId),
        };
        const { after, limit } = withOneMore(query);
        const { rows, next } = toListPage(
          listRunners(reading, workspaceId, { after, limit }),
          query,
          ({ runnerId }) => runnerId,
        );
        return { status: 200, body: { items: rows.map((row) => runnerView(reading, workspaceId, row, ofRuns)), next } };
      },
    }),
  ];
}
