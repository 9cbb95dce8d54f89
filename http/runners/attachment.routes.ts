import { isRunnerOf } from "../../actors/runners/runner.queries.js";
import { findHeldAttachment } from "../../actors/runs/run.queries.js";
import { sha256Hex } from "../../actors/sealer.js";
import { findBlob } from "../../actors/tables/blobs.js";
import { bearerToken } from "../authenticate.js";
import { type Outcome, type Route, type RouteRequest, route } from "../route.js";
import { findPool, type PoolSource } from "./pool-bearer.js";

/** What runners fetch of the files of tasks; see `README.md`. */
export function runnerAttachmentRoutes(source: PoolSource): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/runner/attachments/{attachmentId}",
      operation: "getRunnerAttachment",
      summary: "A runner fetches a file of a run's task",
      description:
        "The runner names itself in `service-runner`. `service-run` and `service-run-fence` name a run that it holds, " +
        "whose input has the file; to every other caller the file is not there.",
      access: "public",
      credential: "pool",
      problems: ["unauthenticated", "not-found"],
      answers: { 200: { body: null, text: "application/octet-stream" } },
      handle: (request) => getAttachment(source, request),
    }),
  ];
}

function getAttachment(
  source: PoolSource,
  { params, header }: Pick<RouteRequest<"public">, "params" | "header">,
): Outcome {
  const { reading } = source.runtime;
  const token = bearerToken(header("authorization"));
  const pool = token === null ? null : findPool(source, sha256Hex(token));
  if (pool === null) return { refused: "unauthenticated", detail: "This needs the token of a runner pool." };
  const { workspaceId } = pool;
  const runnerId = header("service-runner") ?? "";
  const claim = { runnerId, runId: header("service-run") ?? "", fence: Number(header("service-run-fence")) };
  if (!isRunnerOf(reading, pool, runnerId) || !Number.isSafeInteger(claim.fence)) return { refused: "not-found" };
  const digest = findHeldAttachment(reading, workspaceId, claim, params.attachmentId ?? "");
  const content = digest === undefined ? undefined : findBlob(reading, workspaceId, digest);
  return content === undefined
    ? { refused: "not-found" }
    : { status: 200, text: { type: "application/octet-stream", content } };
}
