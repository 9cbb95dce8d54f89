import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { whyWaiting } from "../runners/placement.queries.js";
import {
  checkoutResultSchema,
  endingSchema,
  failureSchema,
  stepSchema as runnerStepSchema,
  spentSchema,
} from "../runners/protocol.js";
import { getText } from "../tables/text-blobs.js";
import { type RunRow, runCheckouts, runSteps, type StepRow, toQueuedRun } from "./run.table.js";
import { runInputs } from "./run-input.table.js";

/** What it runs with: the station's and the repositories' settings when it was queued. */
const configSchema = z.looseObject({
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

/** What a run's own row says: what its stream shows. */
const runRowSchema = z.strictObject({
  id: z.string(),
  /** Empty where the run is no task's. */
  taskId: z.string(),
  lineId: z.string(),
  stationId: z.string(),
  station: z.string(),
  state: z.enum(["queued", "claimed", "running", "ended"]),
  outcome: z.enum(["completed", "failed", "stopped", "abandoned", "withdrawn", "superseded"]).nullable(),
  reason: z.string().nullable(),
  runnerId: z.string().nullable(),
  /** What it needs of a runner. */
  needs: z.strictObject({ poolId: z.string().nullable(), labels: z.array(z.string()), harness: z.string() }),
  steps: z.int(),
  /** How many of the messages that were said to it its agent was not given. */
  unheard: z.int(),
  spent: spentSchema.nullable(),
  handover: z.strictObject({ to: z.string(), refused: z.string().nullable() }).nullable(),
  ending: endingSchema.nullable(),
  failure: failureSchema.nullable(),
  check: z.strictObject({ passed: z.boolean(), exitCode: z.int().nullable(), output: z.string() }).nullable(),
  fingerprint: z.string(),
  queuedAt: z.string(),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
});

/** A run as lists show it. */
export const runItemSchema = runRowSchema
  .extend({
    /** Why no runner has taken it; null when it is not queued, or one is about to. */
    waiting: z.strictObject({ reason: z.string() }).nullable(),
  })
  .meta({ title: "run in a list" });

/** A run as it is read. */
export const runSchema = runItemSchema
  .extend({ checkouts: z.array(checkoutResultSchema), config: configSchema.nullable() })
  .meta({ title: "run" });

/** A step as it is read. */
export const stepSchema = runnerStepSchema
  .extend({
    /** `agent`, or `person <id>` for what was said to the run. */
    from: z.string(),
    at: z.string(),
  })
  .meta({ title: "step" });

/** The run without what it is weighed down by, as its stream shows it. */
export function runRowView(run: RunRow): z.output<typeof runRowSchema> {
  const {
    owner: _owner,
    ownerAddress: _address,
    teamId: _team,
    taskId,
    stationKey,
    passesTo: _next,
    fence: _fence,
    queuedAtMs,
    needs: { poolId, labels, harness },
    lane: _lane,
    unheard = 0,
    ...shown
  } = run;
  return {
    ...shown,
    taskId: taskId ?? "",
    unheard,
    needs: { poolId, labels: [...labels], harness },
    station: stationKey,
    queuedAt: new Date(queuedAtMs).toISOString(),
  };
}

export function runItemView(reading: Reading, workspaceId: string, run: RunRow): z.output<typeof runItemSchema> {
  const queued = toQueuedRun(run);
  const reason = run.state === "queued" ? whyWaiting(reading, workspaceId, queued) : null;
  return { ...runRowView(run), waiting: reason === null ? null : { reason } };
}

export function runView(reading: Reading, workspaceId: string, run: RunRow): z.output<typeof runSchema> {
  return {
    ...runItemView(reading, workspaceId, run),
    checkouts: runCheckouts.list(reading, workspaceId, [run.id]).map(({ repository, base, digest }) => ({
      repository,
      base,
      diff: getText(reading, workspaceId, digest),
    })),
    config: configView(reading, workspaceId, run.id),
  };
}

function configView(reading: Reading, workspaceId: string, runId: string): z.output<typeof runSchema>["config"] {
  const config = runInputs.get(reading, workspaceId, runId)?.config;
  return config === undefined ? null : { station: { ...config.station }, repositories: [...config.repositories] };
}

/** A step as it is read. */
export function stepView(step: StepRow): z.output<typeof stepSchema> {
  return { ...step, from: step.from ?? "agent" };
}

/** Steps after an index, in order. */
export function stepsView(
  reading: Reading,
  workspaceId: string,
  runId: string,
  page: { readonly after: number; readonly limit: number },
): z.output<typeof stepSchema>[] {
  return runSteps.list(reading, workspaceId, [runId], { after: [runId, page.after], limit: page.limit }).map(stepView);
}
