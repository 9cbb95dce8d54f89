import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { stepSchema, stepsView } from "../../runs/run.view.js";
import { runRowSchema, runRowView } from "../../runs/run-row.view.js";
import { iterationKinds } from "../search/search.js";
import type { VisibleSearchRun } from "../search/search.queries.js";
import { searchItemSchema } from "./search-schemas.js";

const { state, outcome, reason, spent, startedAt, endedAt, queuedAt, fingerprint } = runRowSchema.shape;

/** A run of a search's agent with its steps. */
export const searchRunSchema = z
  .strictObject({
    id: z.string(),
    searchId: z.string(),
    lineId: z.string(),
    stationId: z.string(),
    iteration: z.int().describe("The number of the iteration that it is a run of."),
    kind: z.enum(iterationKinds),
    agent: searchItemSchema.shape.agent,
    state,
    outcome,
    reason,
    spent,
    queuedAt,
    startedAt,
    endedAt,
    fingerprint,
    stepCount: z.int(),
    steps: z.array(stepSchema).describe("In order; `after` and `limit` say which."),
  })
  .meta({ title: "search run" });

/** Shows the run with a page of its steps. */
export function searchRunView(
  reading: Reading,
  { workspaceId, search, iteration, run: row }: VisibleSearchRun,
  page: { readonly after: number; readonly limit: number },
): z.output<typeof searchRunSchema> {
  const run = runRowView(row);
  return {
    id: run.id,
    searchId: search.id,
    lineId: search.lineId,
    stationId: search.stationId,
    iteration: iteration.number,
    kind: iteration.kind,
    agent: { ...search.agent },
    state: run.state,
    outcome: run.outcome,
    reason: run.reason,
    spent: run.spent,
    queuedAt: run.queuedAt,
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    fingerprint: run.fingerprint,
    stepCount: run.steps,
    steps: stepsView(reading, workspaceId, run.id, page),
  };
}
