import { type Fraction, fraction, mean } from "../fraction.js";

/** "unscored" says nothing of the configuration (a runner was lost). Null until settled and, with a judge, judged. */
export type CopyResult = "succeeded" | "failed" | "unscored" | null;

/** One copy of a past run, as far as success is concerned (document 2, "Replay (read)": `entries[]`). */
export interface Copy {
  readonly taskId: string;
  /** The past run that it repeats. A set may hold several runs of one task. */
  readonly originalRunId: string;
  /** Which copy of that run, from 1. */
  readonly repeat: number;
  readonly result: CopyResult;
}

/** Fewer tasks than this tell little: figures of fewer say `few` (document 2, `roomToImprove` and `onlyOnSeenTasks`). */
export const FEW = 5;

export function isScored({ result }: Copy): boolean {
  return result === "succeeded" || result === "failed";
}

export function countSucceeded(copies: readonly Copy[]): number {
  return copies.filter(({ result }) => result === "succeeded").length;
}

/** The share of the scored copies that succeeded; null when none is scored. */
export function successShare(copies: readonly Copy[]): Fraction | null {
  const scored = copies.filter(isScored).length;
  return scored === 0 ? null : fraction(countSucceeded(copies), scored);
}

/** The copies of all runs of each task, tasks in the order of their ids. */
export function groupByTask<Each extends Copy>(copies: readonly Each[]): ReadonlyMap<string, readonly Each[]> {
  const tasks = new Map<string, Each[]>();
  for (const copy of [...copies].sort((a, b) => compareText(a.taskId, b.taskId))) {
    const already = tasks.get(copy.taskId);
    if (already === undefined) tasks.set(copy.taskId, [copy]);
    else already.push(copy);
  }
  return tasks;
}

/** The share of each task that has a scored copy. */
export function taskShares(copies: readonly Copy[]): ReadonlyMap<string, Fraction> {
  const shares = new Map<string, Fraction>();
  for (const [taskId, ofTask] of groupByTask(copies)) {
    const share = successShare(ofTask);
    if (share !== null) shares.set(taskId, share);
  }
  return shares;
}

/** Success of a set: the mean of the tasks' shares, so that a task counts once; null while no task is scored. */
export function successRate(copies: readonly Copy[]): Fraction | null {
  return mean([...taskShares(copies).values()]);
}

/** Orders texts by their code units, as `<` does: the same in every place and language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
