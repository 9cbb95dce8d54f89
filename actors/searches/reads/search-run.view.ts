import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { runRowSchema } from "../../runs/run.js";
import { stepPageView, stepSchema } from "../../runs/run.view.js";
import { runRowView } from "../../runs/run-row.view.js";
import type { StepPage } from "../../runs/run-steps.js";
import { defineView, type Shown } from "../../view.js";
import type { VisibleSearchRun } from "../search/search.queries.js";
import { ABOUT_ITERATION_KIND, iterationKinds, searchItemSchema } from "./search-schemas.js";

const { state, outcome, reason, spent, startedAt, endedAt, queuedAt, fingerprint } = runRowSchema.shape;

/** A run of a search's agent with its steps. */
export const searchRunSchema = z
  .strictObject({
    id: z.string().describe("The id of the agent's run (`run_…`)."),
    searchId: z.string().describe("The search that the run belongs to (`srch_…`)."),
    lineId: z.string().describe("The line of the searched station (`line_…`)."),
    stationId: z.string().describe("The id of the station that the search finds a config for."),
    iteration: z.int().describe("The number of the iteration that the run belongs to."),
    kind: z.enum(iterationKinds).describe(ABOUT_ITERATION_KIND),
    agent: searchItemSchema.shape.agent,
    state,
    outcome,
    reason,
    spent,
    queuedAt,
    startedAt,
    endedAt,
    fingerprint,
    stepCount: z.int().describe("Number of steps of the run in total, not only on this page."),
    steps: z.array(stepSchema).describe("The steps in order; `after` and `limit` select the page."),
    next: z.string().nullable().describe("The `after` parameter for the next page of steps; null when there is none."),
  })
  .meta({ title: "search run", description: "A run of a search's agent, with a page of its steps." });

interface Sources extends VisibleSearchRun {
  readonly reading: Reading;
  readonly page: ReturnType<typeof stepPageView>;
}

const showRun = defineView<ReturnType<typeof runRowView>, Sources>()(searchRunSchema, {
  searchId: (_run, { search }) => search.id,
  lineId: (_run, { search }) => search.lineId,
  stationId: (_run, { search }) => search.stationId,
  iteration: (_run, { iteration }) => iteration.number,
  kind: (_run, { iteration }) => iteration.kind,
  agent: (_run, { search }) => search.agent,
  stepCount: ({ steps }) => steps,
  steps: (_run, { page }) => page.steps,
  next: (_run, { page }) => page.next,
});

/** Shows the run with a page of its steps. */
export function searchRunView(
  reading: Reading,
  found: VisibleSearchRun,
  page: StepPage,
): Shown<typeof searchRunSchema> {
  const { workspaceId, run } = found;
  const steps = stepPageView(reading, workspaceId, run.id, page);
  return showRun(runRowView(run), { ...found, reading, page: steps });
}
