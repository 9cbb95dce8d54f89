import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { runConfigSchema, stepSchema, stepsView } from "../../runs/run.view.js";
import { getRunInput } from "../../runs/run-input.table.js";
import { runRowSchema, runRowView } from "../../runs/run-row.view.js";
import type { VisibleReplayRun } from "../replay/replay.queries.js";
import { copyView } from "./copy.view.js";
import { partsOf, readReplayRows } from "./replay-parts.js";
import type { RunReplayView } from "./replay-schemas.js";

const { state, outcome, spent, startedAt, endedAt, queuedAt, fingerprint } = runRowSchema.shape;

/** A run of a replay with its steps. */
export const replayRunSchema = z
  .strictObject({
    id: z.string(),
    replayId: z.string(),
    setId: z.string(),
    originalRunId: z.string().describe("The run that it repeats."),
    taskId: z.string(),
    title: z.string(),
    repeat: z.int().describe("Which copy of that run, from 1."),
    state,
    outcome,
    spent,
    queuedAt,
    startedAt,
    endedAt,
    fingerprint,
    stepCount: z.int(),
    steps: z.array(stepSchema).describe("In order; `after` and `limit` say which."),
  })
  .meta({ title: "replay run" });

/** The config of a replay run. */
export const replayRunConfigSchema = runConfigSchema
  .extend({
    runId: z.string(),
    fingerprint,
    skills: z.array(z.strictObject({ key: z.string(), digest: z.string().describe("SHA-256 of its content.") })),
  })
  .meta({ title: "replay run config" });

/** Shows the run with a page of its steps. */
export function replayRunView(
  reading: Reading,
  { workspaceId, replay, copy, run: row }: VisibleReplayRun,
  page: { readonly after: number; readonly limit: number },
): z.output<typeof replayRunSchema> {
  const { originalRunId, taskId, repeat } = copy;
  const { titles } = readReplayRows(reading, workspaceId, { replayId: replay.id, place: copy.place });
  const run = runRowView(row);
  return {
    id: run.id,
    replayId: replay.id,
    setId: replay.setId,
    originalRunId,
    taskId,
    repeat,
    title: titles.get(taskId) ?? "",
    state: run.state,
    outcome: run.outcome,
    spent: run.spent,
    queuedAt: run.queuedAt,
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    fingerprint: run.fingerprint,
    stepCount: run.steps,
    steps: stepsView(reading, workspaceId, run.id, page),
  };
}

/** Shows the config of a replay run. */
export function replayRunConfigView(
  reading: Reading,
  { workspaceId, run }: VisibleReplayRun,
): z.output<typeof replayRunConfigSchema> {
  const { station, repositories, skills } = getRunInput(reading, workspaceId, run.id).config;
  return {
    runId: run.id,
    fingerprint: run.fingerprint,
    station: { ...station },
    repositories: [...repositories],
    skills: skills.map(({ key, digest }) => ({ key, digest })),
  };
}

/** Shows the replay of a run, with the complete view of the run's copy. */
export function runReplayView(reading: Reading, { workspaceId, replay, set, copy }: VisibleReplayRun): RunReplayView {
  const { id, state: of, createdAt, probe, candidate, search } = replay;
  const rows = readReplayRows(reading, workspaceId, { replayId: id, place: copy.place });
  return {
    replay: { id, state: of, createdAt, probe },
    candidate,
    set: { id: set.id, name: set.name },
    search,
    result: copyView(partsOf(rows, copy, { reading, workspaceId })),
  };
}
