import type { Report } from "../../runtime/turns/turn.js";
import { type RunOutcome, type RunRow, runRowSchema } from "./run.js";
import type { RunOwnerKind } from "./run-owner.js";

/** The name of the report of an ended run. Its details have the run's `outcome` and `owner`, and what the run spent. */
export const RUN_ENDED = "run.ended";

/** All outcomes, and all kinds of owners, for the metrics. */
export const runOutcomes = runRowSchema.shape.outcome.unwrap().options;
export const runOwnerKinds = ["task", "replay", "search", "stack-check"] as const satisfies readonly RunOwnerKind[];

/** Creates the report of an ended run: one log line, a warning if the outcome is `failed`. */
export function reportEnded(row: RunRow, outcome: RunOutcome, nowMs: number): Report {
  const { id: runId, owner, teamId, lineId, stationId, runnerId, startedAt, failure, spent, steps } = row;
  return {
    name: RUN_ENDED,
    line: { level: outcome === "failed" ? "warn" : "info", message: "run ended" },
    details: {
      outcome,
      ...(failure !== null && outcome === "failed" && { failure: failure.code }),
      runId,
      owner: owner.kind,
      ownerId: owner.id,
      teamId,
      lineId,
      stationId,
      runnerId,
      seconds: startedAt === null ? null : (nowMs - Date.parse(startedAt)) / 1_000,
      steps,
      ...(spent !== null && { spent: spent.amount, currency: spent.currency }),
    },
  };
}
