import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { runRowSchema } from "../../runs/run.js";
import { stepSchema, stepsView } from "../../runs/run.view.js";
import { runRowView } from "../../runs/run-row.view.js";
import { defineView, type Shown } from "../../view.js";
import type { VisibleSearchRun } from "../search/search.queries.js";
import { iterationKinds, searchItemSchema } from "./search-schemas.js";

const { state, outcome, reason, spent, startedAt, endedAt, queuedAt, fingerprint } = runRowSchema.shape;

/** A run of a search's agent with its steps. */
export const searchRunSchema = z
  .strictObject({
    id: z.string(),
    searchId: z.string(),
    lineId: z.string(),
    stationId: z.string(),
    iteration: z.int().describe("The number of the iteration that the run belongs to."),
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
    steps: z.array(stepSchema).describe("The steps in order; `after` and `limit` select the page."),
  })
  .meta({ title: "search run" });

interface StepPage {
  readonly after: number;
  readonly limit: number;
}

interface Sources extends VisibleSearchRun {
  readonly reading: Reading;
  readonly page: StepPage;
}

const showRun = defineView<ReturnType<typeof runRowView>, Sources>()(searchRunSchema, {
  searchId: (_run, { search }) => search.id,
  lineId: (_run, { search }) => search.lineId,
  stationId: (_run, { search }) => search.stationId,
  iteration: (_run, { iteration }) => iteration.number,
  kind: (_run, { iteration }) => iteration.kind,
  agent: (_run, { search }) => search.agent,
  stepCount: ({ steps }) => steps,
  steps: ({ id }, { reading, workspaceId, page }) => stepsView(reading, workspaceId, id, page),
});

/** Shows the run with a page of its steps. */
export function searchRunView(
  reading: Reading,
  found: VisibleSearchRun,
  page: StepPage,
): Shown<typeof searchRunSchema> {
  return showRun(runRowView(found.run), { ...found, reading, page });
}
