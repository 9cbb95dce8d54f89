import { isRefusal } from "../../actors/refusal.js";
import { findClaimedAttachment } from "../../actors/runs/run.queries.js";
import { findBlob } from "../../actors/tables/blobs.js";
import { findCallingRunner, type PoolSource } from "../access/pool-bearer.js";
import { type Outcome, type Route, type RouteRequest, route } from "../wire/route.js";

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
