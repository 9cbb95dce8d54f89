import { createHash } from "node:crypto";
import { type TaskOutcome, taskOutcomes } from "../../run-facts/run-outcome.table.js";
import { compareText } from "../../statistics/copy.js";

/** The fields of a set's run that a split needs. */
export interface SplitEntry {
  readonly runId: string;
  readonly taskId: string;
  /** The outcome of the run in its task. */
  readonly outcome: TaskOutcome;
}

/**
 * The runs on which candidates are tuned, and the runs that confirm the candidates (document 2, "Search detail":
 * `split`).
 */
export interface Split<Entry> {
  /** Numbers of tasks. */
  readonly searchedTasks: number;
  readonly heldOutTasks: number;
  /** In the order of the set. */
  readonly searched: readonly Entry[];
  readonly heldOut: readonly Entry[];
}

/** Minimum numbers of searched and of held-out tasks (document 2, "Limits": search set). */
const MIN_SEARCHED = 3;
const MIN_HELD_OUT = 2;

/**
 * Returns how many of the tasks are held out: two fifths, rounded to the nearest integer. Returns null if there are too
 * few tasks for a search.
 */
export function countHeldOut(tasks: number): number | null {
  return tasks < MIN_SEARCHED + MIN_HELD_OUT ? null : Math.floor((4 * tasks + 5) / 10);
}

/**
 * Splits a set by its tasks; null if the set has too few tasks. The same share of each outcome's tasks is held out,
 * rounded up or down. Within an outcome, the choice of tasks depends only on the ids of the set and the tasks. So
 * another search of an unchanged set holds out the same tasks.
 *
 * Adding or removing a run moves at most one other task of each outcome, besides the run's own task. The order of the
 * entries does not matter.
 */
export function splitTasks<Entry extends SplitEntry>(setId: string, entries: readonly Entry[]): Split<Entry> | null {
  const tasks = new Set(entries.map(({ taskId }) => taskId));
  const wanted = countHeldOut(tasks.size);
  if (wanted === null) return null;
  const strata = stratify(setId, entries);
  const parts = apportion(strata, wanted);
  const heldOut = new Set(strata.flatMap((stratum, n) => stratum.tasks.slice(0, parts[n])));
  return splitBy(entries, heldOut);
}

/** Returns the split that holds out these tasks. */
export function splitBy<Entry extends Pick<SplitEntry, "taskId">>(
  entries: readonly Entry[],
  heldOutTasks: ReadonlySet<string>,
): Split<Entry> {
  const isHeldOut = ({ taskId }: Entry): boolean => heldOutTasks.has(taskId);
  const tasks = new Set(entries.map(({ taskId }) => taskId)).size;
  return {
    searchedTasks: tasks - heldOutTasks.size,
    heldOutTasks: heldOutTasks.size,
    searched: entries.filter((entry) => !isHeldOut(entry)),
    heldOut: entries.filter(isHeldOut),
  };
}

/**
 * The tasks of one outcome, in a pseudo-random order that the set's id determines. `rank` gives the outcomes a
 * pseudo-random order, also from the set's id.
 */
interface Stratum {
  readonly rank: string;
  readonly tasks: readonly string[];
}

function stratify(setId: string, entries: readonly SplitEntry[]): readonly Stratum[] {
  const toRank = (text: string): string =>
    createHash("sha256")
      .update(JSON.stringify([setId, text]))
      .digest("hex");
  const byTask = new Map<string, TaskOutcome[]>();
  for (const { taskId, outcome } of entries) byTask.set(taskId, [...(byTask.get(taskId) ?? []), outcome]);
  const tasks = [...byTask].map(([taskId, outcomes]) => ({
    taskId,
    outcome: commonest(outcomes),
    rank: toRank(taskId),
  }));
  tasks.sort((a, b) => compareText(a.rank, b.rank));
  return taskOutcomes.map((outcome) => ({
    rank: toRank(outcome),
    tasks: tasks.filter((task) => task.outcome === outcome).map(({ taskId }) => taskId),
  }));
}

/** Returns the most common outcome of a task's runs; ties go to the first in the order of outcomes. */
function commonest(outcomes: readonly TaskOutcome[]): TaskOutcome {
  const count = (outcome: TaskOutcome): number => outcomes.filter((each) => each === outcome).length;
  return taskOutcomes.reduce((largest, outcome) => (count(outcome) > count(largest) ? outcome : largest));
}

/**
 * Returns the number of held-out tasks in each stratum: the stratum's share of `wanted`, rounded down. The strata with
 * the largest remainders get one more task.
 */
function apportion(strata: readonly Stratum[], wanted: number): readonly number[] {
  const all = strata.reduce((sum, { tasks }) => sum + tasks.length, 0);
  const parts = strata.map(({ tasks, rank }, n) => {
    const times = wanted * tasks.length;
    return { n, rank, whole: Math.floor(times / all), left: times % all };
  });
  const missing = wanted - parts.reduce((sum, { whole }) => sum + whole, 0);
  const largest = [...parts].sort((a, b) => b.left - a.left || compareText(a.rank, b.rank)).slice(0, missing);
  return parts.map((part) => part.whole + (largest.includes(part) ? 1 : 0));
}
