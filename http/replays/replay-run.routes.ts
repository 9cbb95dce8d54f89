import { z } from "zod";
import {
  replayRunConfigSchema,
  replayRunConfigView,
  replayRunSchema,
  replayRunView,
  runReplayView,
} from "../../actors/replays/reads/replay-run.view.js";
import { runReplaySchema } from "../../actors/replays/reads/replay-schemas.js";
import type { Runtime } from "../../runtime/runtime.js";
import { pageSize } from "../wire/paging.js";
import { replayRunSubject } from "../wire/replay-subjects.js";
import type { Route } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";

const RUN = "/api/teams/{teamId}/replay-runs/{runId}";

/** The routes that read replay runs. */
export function replayRunRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  const { reading } = runtime;
  const subject = replayRunSubject(runtime);
  return [
    subjectRoute(subject, {
      method: "GET",
      path: RUN,
      summary: "Read a run of a replay, with the run that it repeats and its steps",
      description:
        "`GET /api/runs/{runId}` has its diff, its check and its config. Its `taskId` is empty: the run of a " +
        "copy belongs to no task.",
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
      answers: { 200: replayRunSchema },
      handle: ({ query }, found) => ({ status: 200, body: replayRunView(reading, found, query) }),
    }),
    subjectRoute(subject, {
      method: "GET",
      path: `${RUN}/replay`,
      summary: "Read the replay that a run belongs to, with all data on its copy",
      description: "The copy has its complete outputs, reasons and claims, which a read of the replay cuts.",
      access: "any",
      answers: { 200: runReplaySchema },
      handle: (_request, found) => ({ status: 200, body: runReplayView(reading, found) }),
    }),
    subjectRoute(subject, {
      method: "GET",
      path: "/api/teams/{teamId}/runs/{runId}/config",
      summary: "Read the config of a replay run",
      description: "Includes candidates that cannot be read directly, such as one with the answer.",
      access: "any",
      answers: { 200: replayRunConfigSchema },
      handle: (_request, found) => ({ status: 200, body: replayRunConfigView(reading, found) }),
    }),
  ];
}
