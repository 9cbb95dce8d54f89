import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { whyWaiting } from "../runners/placement-state.js";
import {
  checkoutResultSchema,
  endingSchema,
  failureSchema,
  stepSchema as runnerStepSchema,
  spentSchema,
} from "../runners/protocol.js";
import { type RunRow, runCheckouts, runSteps } from "./run-rows.js";

/** A run as it is read. */
export const runSchema = z
  .strictObject({
    id: z.string(),
    taskId: z.string(),
    lineId: z.string(),
    stationId: z.string(),
    station: z.string(),
    state: z.enum(["queued", "claimed", "running", "ended"]),
    outcome: z.enum(["completed", "failed", "stopped", "abandoned", "withdrawn", "superseded"]).nullable(),
    reason: z.string().nullable(),
    /** Why no runner has taken it; null when it is not queued, or one is about to. */
    waiting: z.strictObject({ reason: z.string() }).nullable(),
    runnerId: z.string().nullable(),
    steps: z.int(),
    spent: spentSchema.nullable(),
    ending: endingSchema.nullable(),
    failure: failureSchema.nullable(),
    check: z.strictObject({ passed: z.boolean(), exitCode: z.int().nullable(), output: z.string() }).nullable(),
    checkouts: z.array(checkoutResultSchema),
    config: z.unknown(),
    fingerprint: z.string(),
    queuedAt: z.string(),
    startedAt: z.string().nullable(),
    endedAt: z.string().nullable(),
  })
  .meta({ title: "run" });

export type RunView = z.output<typeof runSchema>;

/** A step as it is read. */
export const stepSchema = runnerStepSchema.extend({ at: z.string() }).meta({ title: "step" });

export function runView(reading: Reading, workspaceId: string, run: RunRow): RunView {
  const { teamId: _team, stationKey, passesTo: _next, fence: _fence, queuedAtMs, ...shown } = run;
  const reason = run.state === "queued" ? whyWaiting(reading, workspaceId, { runId: run.id, queuedAtMs }) : null;
  return {
    ...shown,
    station: stationKey,
    waiting: reason === null ? null : { reason },
    checkouts: runCheckouts.list(reading, workspaceId, [run.id]),
    queuedAt: new Date(queuedAtMs).toISOString(),
  };
}

/** Steps after an index, in order. */
export function stepsView(
  reading: Reading,
  workspaceId: string,
  runId: string,
  page: { readonly after: number; readonly limit: number },
): z.output<typeof stepSchema>[] {
  return runSteps.list(reading, workspaceId, [runId], { after: [runId, page.after], limit: page.limit });
}
