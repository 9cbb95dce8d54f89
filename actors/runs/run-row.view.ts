import { z } from "zod";
import { boundMoney } from "../money.js";
import { endingSchema, failureSchema, spentSchema } from "../runners/protocol.js";
import type { RunRow } from "./run.js";

/** The fields of the run's own row, as its stream publishes them. */
export const runRowSchema = z.strictObject({
  id: z.string(),
  taskId: z.string().describe("Empty for a run without a task, such as that of a replay's copy."),
  lineId: z.string(),
  stationId: z.string(),
  station: z.string(),
  state: z.enum(["queued", "claimed", "running", "ended"]),
  outcome: z.enum(["completed", "failed", "stopped", "abandoned", "withdrawn", "superseded"]).nullable(),
  reason: z.string().nullable(),
  runnerId: z.string().nullable(),
  /** What the run needs of a runner. */
  needs: z.strictObject({ poolId: z.string().nullable(), labels: z.array(z.string()), harness: z.string() }),
  steps: z.int(),
  /** Number of messages to the run that its agent has not received. */
  unheard: z.int(),
  spent: spentSchema.nullable(),
  handover: z.strictObject({ to: z.string(), refused: z.string().nullable() }).nullable(),
  ending: endingSchema.nullable(),
  failure: failureSchema.nullable(),
  check: z.strictObject({ passed: z.boolean(), exitCode: z.int().nullable(), output: z.string() }).nullable(),
  pullRequests: z
    .array(
      z.strictObject({ repository: z.string(), pullRequestId: z.string().nullable(), refused: z.string().nullable() }),
    )
    .optional()
    .describe(
      "What became of its changes where they are pushed: `refused` says why they were not. Absent for nothing.",
    ),
  fingerprint: z.string(),
  queuedAt: z.string(),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
});

/**
 * Converts a run to the form its stream publishes, without its large parts. Copied member by member for speed: every
 * change of a run passes here.
 */
export function runRowView(run: RunRow): z.output<typeof runRowSchema> {
  const { poolId, labels, harness } = run.needs;
  const view = {
    id: run.id,
    lineId: run.lineId,
    stationId: run.stationId,
    state: run.state,
    outcome: run.outcome,
    reason: run.reason,
    runnerId: run.runnerId,
    fingerprint: run.fingerprint,
    steps: run.steps,
    handover: run.handover,
    ending: run.ending,
    failure: run.failure,
    check: run.check,
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    taskId: run.taskId ?? "",
    spent: boundMoney(run.spent),
    unheard: run.unheard ?? 0,
    needs: { poolId, labels: [...labels], harness },
    station: run.stationKey,
    queuedAt: new Date(run.queuedAtMs).toISOString(),
  };
  return run.pullRequests === undefined ? view : { ...view, pullRequests: [...run.pullRequests] };
}
