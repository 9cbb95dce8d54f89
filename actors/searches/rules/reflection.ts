import { compare, fraction } from "../../fraction.js";
import { type Copy, compareText, groupByTask, successShare } from "../../statistics/copy.js";
import { inRunOrder } from "../../statistics/regression.js";
import type { SearchEnding } from "./ending.js";

/** Why a task failed, as recorded by a reflecting agent (document 2, "Cause recording body"). */
export const failureCauses = ["config", "task", "judge", "check", "infra"] as const;
/** The description of a cause for the API. */
export const ABOUT_CAUSE =
  "What caused the failure. `config`: another config could have helped. `task`: the task is impossible or unclear. " +
  "`judge`, `check`: the judge or the check is wrong. `infra`: a runner, the network or a timeout.";
export type FailureCause = (typeof failureCauses)[number];

/** The outcome of a reflection (document 2, "Reflection": `outcome`). */
export const reflectionOutcomes = [
  "went-on",
  "no-config-cause",
  "no-failures",
  "did-not-run",
  "out-of-budget",
] as const;
export type ReflectionOutcome = (typeof reflectionOutcomes)[number];

/** A task that a config failed, with the copy to investigate. */
export interface FailedTask {
  readonly taskId: string;
  readonly originalRunId: string;
  readonly replayRunId: string;
}

/** A copy with the id of its run. `runId` is null if the copy has no run. */
export interface RunCopy extends Copy {
  readonly runId: string | null;
}

/** Maximum number of tasks that a reflection investigates. */
const MAX_FAILED_TASKS = 10;

/**
 * Lists at most ten tasks that a config failed at least once, from its copies of searched runs. Tasks with the lowest
 * success come first, then by id. Each task has its first failed copy, in the order of `runs`, then by copy number.
 */
export function findFailedTasks(copies: readonly RunCopy[], runs: readonly string[]): readonly FailedTask[] {
  const failed = [...groupByTask(inRunOrder(copies, runs))].flatMap(([taskId, ofTask]) => {
    const copy = ofTask.find(({ result, runId }) => result === "failed" && runId !== null);
    if (copy === undefined || copy.runId === null) return [];
    const share = successShare(ofTask) ?? fraction(0);
    return [{ share, task: { taskId, originalRunId: copy.originalRunId, replayRunId: copy.runId } }];
  });
  failed.sort((a, b) => compare(a.share, b.share) || compareText(a.task.taskId, b.task.taskId));
  return failed.slice(0, MAX_FAILED_TASKS).map(({ task }) => task);
}

/** A reflection that has ended. */
export interface Reflected {
  /** Number of tasks that the reflection investigated. */
  readonly tasks: number;
  /** Whether the agent's run completed, rather than failed. */
  readonly ran: boolean;
  /** The last recorded cause of each task. */
  readonly causes: readonly { readonly cause: FailureCause; readonly suggestion: string | null }[];
  /** Whether an iteration is left, and the budget covers an agent run and a replay (`canPropose`). */
  readonly canGoOn: boolean;
}

/** Returns the outcome of a reflection. Recorded causes count even if the run failed later. */
export function reflectionOutcome({ tasks, ran, causes, canGoOn }: Reflected): ReflectionOutcome {
  if (tasks === 0) return "no-failures";
  if (!ran && causes.length === 0) return "did-not-run";
  if (!causes.some(({ cause, suggestion }) => cause === "config" && suggestion !== null)) return "no-config-cause";
  return canGoOn ? "went-on" : "out-of-budget";
}

/**
 * Returns the search's ending if a reflection with this outcome ends the search; null if the search continues.
 * `iterationsLeft` says whether any iteration is left.
 */
export function endingOfReflection(outcome: ReflectionOutcome, iterationsLeft: boolean): SearchEnding | null {
  const endings: Readonly<Record<ReflectionOutcome, SearchEnding | null>> = {
    "went-on": null,
    "no-config-cause": "no-config-cause",
    "no-failures": "no-improvement",
    "did-not-run": "agent-failed",
    "out-of-budget": iterationsLeft ? "ceiling" : "iterations-used",
  };
  return endings[outcome];
}
