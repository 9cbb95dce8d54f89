import { type Fraction, fraction, mean } from "../fraction.js";

/**
 * The result of a copy. An `unscored` copy says nothing about the configuration (for example, a runner was lost). Null
 * until the copy has settled and the judge, if there is one, has judged the copy.
 */
export type CopyResult = "succeeded" | "failed" | "unscored" | null;

/** One copy of a past run, with the fields that determine success (document 2, "Replay (read)": `entries[]`). */
export interface Copy {
  readonly taskId: string;
  /** The past run that the copy repeats. A set may have several runs of one task. */
  readonly originalRunId: string;
  /** The number of this copy of the run, from 1. */
  readonly repeat: number;
  readonly result: CopyResult;
}

/**
 * Minimum number of tasks for a reliable figure. Figures over fewer tasks are marked as `few` (document 2,
 * `roomToImprove` and `onlyOnSeenTasks`).
 */
export const FEW = 5;

export function isScored({ result }: Copy): boolean {
  return result === "succeeded" || result === "failed";
}

export function countSucceeded(copies: readonly Copy[]): number {
  return copies.filter(({ result }) => result === "succeeded").length;
}

/** The share of the scored copies that succeeded; null if none is scored. */
export function successShare(copies: readonly Copy[]): Fraction | null {
  const scored = copies.filter(isScored).length;
  return scored === 0 ? null : fraction(countSucceeded(copies), scored);
}

/** Groups the copies by task, across the task's runs. Tasks are ordered by id. */
export function groupByTask<Each extends Copy>(copies: readonly Each[]): ReadonlyMap<string, readonly Each[]> {
  const tasks = new Map<string, Each[]>();
  for (const copy of [...copies].sort((a, b) => compareText(a.taskId, b.taskId))) {
    const already = tasks.get(copy.taskId);
    if (already === undefined) tasks.set(copy.taskId, [copy]);
    else already.push(copy);
  }
  return tasks;
}

/** The success share of each task that has a scored copy. */
export function taskShares(copies: readonly Copy[]): ReadonlyMap<string, Fraction> {
  const shares = new Map<string, Fraction>();
  for (const [taskId, ofTask] of groupByTask(copies)) {
    const share = successShare(ofTask);
    if (share !== null) shares.set(taskId, share);
  }
  return shares;
}

/**
 * Success of a set: the mean of the tasks' shares, so that each task has the same weight. Null while no task is scored.
 */
export function successRate(copies: readonly Copy[]): Fraction | null {
  return mean([...taskShares(copies).values()]);
}

/** Compares texts by code unit, like `<`, so that the order does not depend on a locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
