import { z } from "zod";
import { callerId } from "../../actors/caller.js";
import { findVisibleRun, type VisibleRun } from "../../actors/runs/run.queries.js";
import { listRunDiffs, readDiffs } from "../../actors/runs/run-diff.js";
import type { Runtime } from "../../runtime/runtime.js";
import { ConcurrencyLimit } from "../limits/concurrency-limit.js";
import { granted } from "../wire/refused.js";
import type { Route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";
import { streamView } from "../wire/view-stream.js";

const DIFF = "text/x-diff";

/**
 * Maximum number of diffs that the service sends at once. Each holds a view of the store and a slice of the text, for
 * minutes if the client is slow.
 */
const MAX_DIFFS = { each: 4, workspace: 16, all: 128 };

/** The route that reads a run's diff as text, for callers who may read a team's outcomes. */
export function runDiffRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  const { reading } = runtime;
  const underWay = new ConcurrencyLimit(MAX_DIFFS);
  const visibleRun: Subject<VisibleRun> = {
    find: ({ caller, params }) => findVisibleRun(reading, caller, params.runId ?? ""),
  };
  return [
    subjectRoute(visibleRun, {
      method: "GET",
      path: "/api/runs/{runId}/diff",
      operation: "readRunDiff",
      summary: "Read the changes of a run as a diff",
      description:
        "The text that `git apply` takes, against the base of each checkout; empty before the run's end and for no " +
        `changes. A person or token can have ${MAX_DIFFS.each} of these responses in progress, and a workspace ` +
        `${MAX_DIFFS.workspace}; further requests get 429. An empty diff does not count.`,
      access: "any",
      query: z.strictObject({
        repository: z
          .string()
          .min(1, "must not be empty")
          .max(200, "must be at most 200 characters")
          .optional()
          .describe("`owner/name`. Without it, the diffs of all repositories follow one another."),
      }),
      answers: { 200: { body: null, text: DIFF } },
      handle: async (request, found) => {
        const diffs = granted(listRunDiffs(reading, found, request.query.repository));
        const isEmpty = diffs.every(({ digest }) => digest === null);
        const end = isEmpty ? () => undefined : underWay.begin(callerId(request.caller), found.workspaceId);
        if (end === null) {
          return { refused: "too-many-requests", detail: "Too many diffs are in progress.", retryAfterSeconds: 5 };
        }
        const read = (view: Runtime["reading"]) => readDiffs(view, found.workspaceId, diffs);
        const type = `${DIFF}; charset=utf-8`;
        return { status: 200, stream: await streamView(runtime, request, { type, read, end }) };
      },
    }),
  ];
}
