import { z } from "zod";
import { isRefusal } from "../../actors/refusal.js";
import { runnerSchema } from "../../actors/runners/runner.js";
import { listRunners } from "../../actors/runners/runner.queries.js";
import { runnerView } from "../../actors/runners/runner.view.js";
import { findClaimedAttachment, seesRun, waitsForPerson } from "../../actors/runs/run.queries.js";
import { findBlob } from "../../actors/tables/blobs.js";
import { readListPage } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { findCallingRunner, type PoolSource } from "../access/pool-bearer.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import { type Outcome, type Route, type RouteRequest, route } from "../wire/route.js";
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
      summary: "List the runners that are connected, or that disconnected less than one lease ago",
      description: "For members of the workspace and its tokens. `runs` contains only runs that the caller may read.",
      access: "any",
      query: listing,
      answers: {
        200: z.strictObject({
          items: z.array(runnerSchema).describe("The runners of this page, by id."),
          next: nextPage("after"),
        }),
      },
      handle: ({ caller, query }, { workspaceId }) => {
        const ofRuns = {
          sees: (runId: string) => seesRun(reading, caller, workspaceId, runId),
          waits: (runId: string) => waitsForPerson(reading, workspaceId, runId),
        };
        const { rows, next } = readListPage(
          query,
          ({ after, limit }) => listRunners(reading, workspaceId, { after, limit }),
          ({ runnerId }) => runnerId,
        );
        return { status: 200, body: { items: rows.map((row) => runnerView(reading, workspaceId, row, ofRuns)), next } };
      },
    }),
  ];
}

/** The routes where runners download the files of tasks. See `README.md`. */
export function runnerAttachmentRoutes(source: PoolSource): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/runner/attachments/{attachmentId}",
      operation: "getRunnerAttachment",
      isServedReadOnly: false,
      summary: "Download a file of a run's task",
      description:
        "The runner sends its id in `service-runner`. `service-run` and `service-run-fence` name a run that it " +
        "has claimed and whose input has the file; other callers get 404.",
      access: "public",
      credential: "pool",
      problems: ["unauthenticated", "not-found"],
      answers: { 200: { body: null, text: "application/octet-stream" } },
      handle: (request) => getAttachment(source, request),
    }),
  ];
}

function getAttachment(source: PoolSource, request: Pick<RouteRequest<"public">, "params" | "header">): Outcome {
  const calling = findCallingRunner(source, request);
  if (isRefusal(calling)) return calling;
  const { reading } = source.runtime;
  const { params, header } = request;
  const { workspaceId, runnerId } = calling;
  const claim = { runnerId, runId: header("service-run") ?? "", fence: Number(header("service-run-fence")) };
  if (!Number.isSafeInteger(claim.fence)) return { refused: "not-found" };
  const digest = findClaimedAttachment(reading, workspaceId, claim, params.attachmentId ?? "");
  const content = digest === undefined ? undefined : findBlob(reading, workspaceId, digest);
  return content === undefined
    ? { refused: "not-found" }
    : { status: 200, text: { type: "application/octet-stream", content } };
}
