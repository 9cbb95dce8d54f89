import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { whyWaiting } from "../runners/placement.queries.js";
import { checkoutResultSchema, stepSchema as runnerStepSchema } from "../runners/protocol.js";
import { getText } from "../tables/text-blobs.js";
import type { Shown } from "../view.js";
import type { RunRow, StepRow } from "./run.js";
import { runRowSchema } from "./run.js";
import type { VisibleRun } from "./run.queries.js";
import { runCheckouts, toQueuedRun } from "./run.table.js";
import { runInputs } from "./run-input.table.js";
import { runRowView } from "./run-row.view.js";
import { listStepPage, type StepPage } from "./run-steps.js";

/** The run's config: the settings of the station and the repositories when the run was queued. */
export const runConfigSchema = z.looseObject({
  station: z
    .looseObject({
      key: z.string().describe("The key of the station when the run was queued."),
      kind: z
        .enum(["work", "review"])
        .describe("`work`: the station changes files. `review`: the station reviews changes."),
      harness: z.string().describe("The harness that ran the agent, such as `command`."),
      prompt: z.string().describe("The instructions that the station gives its agent."),
    })
    .describe("The station's settings that affect the run; further members as in the line."),
  repositories: z
    .array(
      z.strictObject({
        name: z.string().describe("The repository, as `owner/name`."),
        setup: z.string().nullable().describe("The command that prepares the checkout; null for none."),
        image: z
          .string()
          .nullable()
          .describe(
            "The container image that the checkout requires; null for none. Runners do not start containers yet.",
          ),
      }),
    )
    .describe("The line's repositories when the run was queued, in order."),
});

/** A run as lists return it. */
export const runItemSchema = runRowSchema
  .extend({
    waiting: z
      .strictObject({ reason: z.string().describe("Why no runner has claimed the run yet, in one sentence.") })
      .nullable()
      .describe("Why the run waits; null if it is not queued, or if a runner is about to claim it."),
  })
  .meta({ title: "run in a list" });

/** A run as the API returns it. */
export const runSchema = runItemSchema
  .extend({
    checkouts: z
      .array(
        checkoutResultSchema.extend({
          diff: checkoutResultSchema.shape.diff
            .nullable()
            .describe(
              "Unified git diff (`--binary`) of all the task's changes since `base`; empty for no changes. Null if " +
                "the request has `diff=false`.",
            ),
          own: checkoutResultSchema.shape.own
            .unwrap()
            .nullable()
            .optional()
            .describe(
              "The diff of the changes that the run itself made, in a replay that starts from changes; otherwise " +
                "absent. Null if the request has `diff=false`.",
            ),
        }),
      )
      .describe("The result in each repository, from the runner's report; empty before the run ends."),
    config: runConfigSchema
      .nullable()
      .describe("The config that the run works with, fixed when it was queued; null if it is no longer stored."),
  })
  .meta({ title: "run" });

/** A step as the API returns it. */
export const stepSchema = runnerStepSchema
  .extend({
    from: z.string().describe("The sender: `agent`, or `person <id>` for a message to the run."),
    at: z.string().describe("When the service received the step, as an RFC 3339 time."),
  })
  .meta({ title: "step" });

export function runItemView(reading: Reading, workspaceId: string, run: RunRow): Shown<typeof runItemSchema> {
  const queued = toQueuedRun(run);
  const reason = run.state === "queued" ? whyWaiting(reading, workspaceId, queued) : null;
  return { ...runRowView(run), waiting: reason === null ? null : { reason } };
}

/** Shows a run. If `hasDiffs` is false, the texts of its diffs are null. */
export function runView(
  reading: Reading,
  { workspaceId, run }: VisibleRun,
  { hasDiffs }: { readonly hasDiffs: boolean },
): Shown<typeof runSchema> {
  return {
    ...runItemView(reading, workspaceId, run),
    checkouts: runCheckouts
      .list(reading, workspaceId, [run.id])
      .map(({ repository, base, digest }) =>
        hasDiffs
          ? { repository, base, diff: getText(reading, workspaceId, digest) }
          : { repository, base, diff: null, own: null },
      ),
    config: configView(reading, workspaceId, run.id),
  };
}

function configView(reading: Reading, workspaceId: string, runId: string): Shown<typeof runSchema>["config"] {
  const config = runInputs.get(reading, workspaceId, runId)?.config;
  return config === undefined ? null : { station: { ...config.station }, repositories: config.repositories };
}

/** Converts a step to its API form. */
export function stepView(step: StepRow): z.output<typeof stepSchema> {
  return { ...step, from: step.from ?? "agent" };
}

/**
 * Returns the steps after an index, in order. `next` is the index after which the next page starts; null on the last
 * page.
 */
export function stepPageView(
  reading: Reading,
  workspaceId: string,
  runId: string,
  page: StepPage,
): { readonly steps: z.output<typeof stepSchema>[]; readonly next: string | null } {
  const { rows, next } = listStepPage(reading, workspaceId, runId, page);
  return { steps: rows.map(stepView), next };
}
