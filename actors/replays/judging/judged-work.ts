import type { Reading } from "../../../storage/store.js";
import type { CheckoutDiff } from "../../judging/change.js";
import type { JudgedWork } from "../../judging/judge-question.js";
import { MAX_JUDGED_STEPS } from "../../judging/shown-steps.js";
import type { JudgedCheck, JudgedTask } from "../../judging/shown-work.js";
import type { RunRow } from "../../runs/run.js";
import { runCheckouts, runs } from "../../runs/run.table.js";
import { getRunInput } from "../../runs/run-input.table.js";
import { listSteps } from "../../runs/run-steps.js";
import { getText, readStoredText } from "../../tables/text-blobs.js";

/** Reads the part of a run that a judge sees. Excludes the run's config and its replay. */
export function readJudgedWork(reading: Reading, workspaceId: string, runId: string): JudgedWork {
  const run = getRun(reading, workspaceId, runId);
  const { beginning } = getRunInput(reading, workspaceId, runId);
  const given = (beginning?.checkouts ?? []).filter(({ diff }) => diff !== null);
  const steps = listSteps(reading, workspaceId, runId, { limit: MAX_JUDGED_STEPS, reverse: true }).reverse();
  return {
    task: readTask(reading, workspaceId, runId),
    change: readOwnChange(reading, workspaceId, runId) ?? [],
    given: given.map(({ repository, diff }) => ({ repository, diff: getText(reading, workspaceId, diff) })),
    steps: steps.map(({ index, kind, text, tool }) => ({ index, kind, text, tool })),
    check: readCheck(run),
  };
}

/** Returns the result of a run's check, for a judge that compares two changes; null if the run has no check result. */
export function readRunCheck(reading: Reading, workspaceId: string, runId: string): JudgedCheck | null {
  return readCheck(getRun(reading, workspaceId, runId));
}

/** Returns the task from the run's input; null for a run without a task. */
export function readTask(reading: Reading, workspaceId: string, runId: string): JudgedTask | null {
  const brief = getRunInput(reading, workspaceId, runId).claimed?.brief ?? null;
  if (brief === null) return null;
  return { title: brief.title, description: readStoredText(reading, workspaceId, brief.description) };
}

/**
 * Returns the run's changes relative to the run's starting tree: the base plus the diff in the run's input. Null if the
 * run ended before it reported a change for each repository.
 */
export function readOwnChange(reading: Reading, workspaceId: string, runId: string): readonly CheckoutDiff[] | null {
  const { config } = getRunInput(reading, workspaceId, runId);
  const checkouts = runCheckouts.list(reading, workspaceId, [runId]);
  if (checkouts.length < config.repositories.length) return null;
  return checkouts.map(({ repository, digest, own = digest }) => ({
    repository,
    diff: getText(reading, workspaceId, own),
  }));
}

function getRun(reading: Reading, workspaceId: string, runId: string): RunRow {
  const run = runs.get(reading, workspaceId, runId);
  if (run === undefined) throw new Error("a copy without its run");
  return run;
}

function readCheck({ check }: RunRow): JudgedCheck | null {
  if (check === null) return null;
  const { passed, exitCode, output } = check;
  return { passed, exitCode, output };
}
