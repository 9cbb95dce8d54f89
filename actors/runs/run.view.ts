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
  station: z.looseObject({
    key: z.string(),
    kind: z.enum(["work", "review"]),
    harness: z.string(),
    prompt: z.string(),
  }),
  repositories: z.array(
    z.strictObject({ name: z.string(), setup: z.string().nullable(), image: z.string().nullable() }),
  ),
});

/** A run as lists return it. */
export const runItemSchema = runRowSchema
  .extend({
    /**
     * The reason why no runner has claimed the run; null if the run is not queued, or if a runner is about to claim it.
     */
    waiting: z.strictObject({ reason: z.string() }).nullable(),
  })
  .meta({ title: "run in a list" });

/** A run as the API returns it. */
export const runSchema = runItemSchema
  .extend({
    checkouts: z.array(
      checkoutResultSchema.extend({
        diff: checkoutResultSchema.shape.diff.nullable(),
        own: checkoutResultSchema.shape.own.unwrap().nullable().optional(),
      }),
    ),
    config: runConfigSchema.nullable(),
  })
  .meta({ title: "run" });

/** A step as the API returns it. */
export const stepSchema = runnerStepSchema
  .extend({
    /** `agent`, or `person <id>` for a message to the run. */
    from: z.string(),
    at: z.string(),
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

/** Lists the steps after an index, in order. `next` is the index after which the next page starts, or null. */
export function stepPageView(
  reading: Reading,
  workspaceId: string,
  runId: string,
  page: StepPage,
): { readonly steps: z.output<typeof stepSchema>[]; readonly next: string | null } {
  const { rows, next } = listStepPage(reading, workspaceId, runId, page);
  return { steps: rows.map(stepView), next };
}
