import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { runRowSchema } from "../../runs/run.js";
import { runConfigSchema, stepPageView, stepSchema } from "../../runs/run.view.js";
import { getRunInput } from "../../runs/run-input.table.js";
import { runRowView } from "../../runs/run-row.view.js";
import type { StepPage } from "../../runs/run-steps.js";
import { defineView, type Shown } from "../../view.js";
import type { ReplayRow } from "../replay/replay.js";
import type { VisibleReplayRun } from "../replay/replay.queries.js";
import { copyView } from "./copy.view.js";
import { getParts, readReplayRows } from "./replay-parts.js";
import { type RunReplayView, replayOfRunSchema } from "./replay-schemas.js";

const { state, outcome, spent, startedAt, endedAt, queuedAt, fingerprint } = runRowSchema.shape;

/** A run of a replay with its steps. */
export const replayRunSchema = z
  .strictObject({
    id: z.string().describe("The id of the replay run (`run_…`)."),
    replayId: z.string().describe("The replay that the run belongs to (`rep_…`)."),
    setId: z.string().describe("The replay set that the replay repeats (`rset_…`)."),
    originalRunId: z.string().describe("The run that this run repeats."),
    taskId: z.string().describe("The task of the original run (`task_…`)."),
    repeat: z.int().describe("The number of this copy of the original run, from 1."),
    title: z.string().describe("The title of the original run's task."),
    state,
    outcome,
    spent,
    queuedAt,
    startedAt,
    endedAt,
    fingerprint,
    stepCount: z.int().describe("Number of steps of the run in total, not only on this page."),
    steps: z.array(stepSchema).describe("The steps in order; `after` and `limit` select the page."),
    next: z.string().nullable().describe("The `after` parameter for the next page of steps; null when there is none."),
  })
  .meta({ title: "replay run", description: "A run of a replay, with a page of its steps." });

/** The config of a replay run. */
export const replayRunConfigSchema = runConfigSchema
  .extend({
    runId: z.string().describe("The id of the replay run (`run_…`)."),
    fingerprint,
    skills: z
      .array(
        z.strictObject({
          key: z.string().describe("The key of the skill that the agent received."),
          digest: z.string().describe("The SHA-256 digest of the skill's content."),
        }),
      )
      .describe("The skills that the run's agent received."),
  })
  .meta({ title: "replay run config", description: "The station config that a replay run works with." });

interface Sources extends VisibleReplayRun {
  readonly reading: Reading;
  readonly page: ReturnType<typeof stepPageView>;
}

const showRun = defineView<ReturnType<typeof runRowView>, Sources>()(replayRunSchema, {
  replayId: (_run, { replay }) => replay.id,
  setId: (_run, { replay }) => replay.setId,
  originalRunId: (_run, { copy }) => copy.originalRunId,
  taskId: (_run, { copy }) => copy.taskId,
  repeat: (_run, { copy }) => copy.repeat,
  title: (_run, { reading, workspaceId, replay, copy }) =>
    readReplayRows(reading, workspaceId, { replayId: replay.id, place: copy.place }).titles.get(copy.taskId) ?? "",
  stepCount: ({ steps }) => steps,
  steps: (_run, { page }) => page.steps,
  next: (_run, { page }) => page.next,
});

/** Shows the run with a page of its steps. */
export function replayRunView(
  reading: Reading,
  found: VisibleReplayRun,
  page: StepPage,
): Shown<typeof replayRunSchema> {
  const { workspaceId, run } = found;
  const steps = stepPageView(reading, workspaceId, run.id, page);
  return showRun(runRowView(run), { ...found, reading, page: steps });
}

/** Shows the config of a replay run. */
export function replayRunConfigView(
  reading: Reading,
  { workspaceId, run }: VisibleReplayRun,
): Shown<typeof replayRunConfigSchema> {
  const { station, repositories, skills } = getRunInput(reading, workspaceId, run.id).config;
  return {
    runId: run.id,
    fingerprint: run.fingerprint,
    station: { ...station },
    repositories,
    skills: skills.map(({ key, digest }) => ({ key, digest })),
  };
}

const showReplay = defineView<ReplayRow>()(replayOfRunSchema, {});

/** Shows the replay of a run, with the complete view of the run's copy. */
export function runReplayView(reading: Reading, { workspaceId, replay, set, copy }: VisibleReplayRun): RunReplayView {
  const { id, candidate, search } = replay;
  const rows = readReplayRows(reading, workspaceId, { replayId: id, place: copy.place });
  return {
    replay: showReplay(replay),
    candidate,
    set: { id: set.id, name: set.name },
    search,
    result: copyView(getParts(rows, copy, { reading, workspaceId })),
  };
}
