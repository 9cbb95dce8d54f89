import { type Copy, countSucceeded, groupByTask, isScored } from "./copy.js";

/** A planned check: the number of copies of each run, and the number of regressed tasks that the check allows. */
export interface PlannedCheck {
  readonly repeats: number;
  readonly mostRegressions: number;
}

/**
 * The probability, from 0 to 1, that a check fails against this baseline although the change has no effect (a check's
 * `warnings`). Null ("unmeasured") if no task has two scored copies. The value is only displayed and decides nothing,
 * so it is a double.
 *
 * Only a task whose scored copies all succeeded can regress. Such a task's copies do not show how likely its next copy
 * is to fail, so the estimate uses the copies of all tasks. It models the tasks' success rates as a beta distribution,
 * with the measured mean and the measured variance within tasks. If no task has both a succeeded and a failed copy, the
 * model adds one more task, in which exactly one copy fails.
 */
export function falseFailureChance(baseline: readonly Copy[], check: PlannedCheck): number | null {
  const tasks = [...groupByTask(baseline).values()].map(toTally).filter(({ scored }) => scored > 0);
  const urn = measureUrn(tasks);
  if (urn === null) return null;
  const chances = tasks
    .filter(({ scored, succeeded }) => scored === succeeded)
    .map(({ scored, runs }) => regressionChance(urn, scored, runs * check.repeats));
  return chanceOfMore(chances, check.mostRegressions);
}

/** Counts of a task's copies. */
interface Tally {
  readonly runs: number;
  readonly scored: number;
  readonly succeeded: number;
}

function toTally(copies: readonly Copy[]): Tally {
  return {
    runs: new Set(copies.map(({ originalRunId }) => originalRunId)).size,
    scored: copies.filter(isScored).length,
    succeeded: countSucceeded(copies),
  };
}

/**
 * Models a task's copies as draws from Pólya's urn, which is equivalent to drawing the task's success rate from a beta
 * distribution. The first copy succeeds with probability `mean`. Each draw then makes its result more likely in all
 * later draws, with weight `likeness` (0: all tasks have the same rate).
 */
interface Urn {
  readonly mean: number;
  readonly likeness: number;
}

function measureUrn(tasks: readonly Tally[]): Urn | null {
  const repeated = tasks.filter(({ scored }) => scored > 1);
  if (repeated.length === 0) return null;
  const max = Math.max(...repeated.map(({ scored }) => scored));
  const hasFlips = repeated.some(({ scored, succeeded }) => succeeded > 0 && succeeded < scored);
  const supposed = hasFlips ? [] : [{ runs: 1, scored: max, succeeded: max - 1 }];
  const mean = average([...tasks, ...supposed].map(({ scored, succeeded }) => succeeded / scored));
  const within = average(
    [...repeated, ...supposed].map(
      ({ scored, succeeded }) => (succeeded * (scored - succeeded)) / (scored * (scored - 1)),
    ),
  );
  return { mean, likeness: Math.max(0, (mean * (1 - mean)) / within - 1) };
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The probability that fewer than half of a task's next `copies` copies succeed. The task has `succeeded` earlier
 * copies, and all of them succeeded.
 */
function regressionChance({ mean, likeness }: Urn, succeeded: number, copies: number): number {
  let chances = [1];
  for (let drawn = 0; drawn < copies; drawn++) {
    const chanceAfter = (successes: number): number =>
      (mean + (succeeded + successes) * likeness) / (1 + (succeeded + drawn) * likeness);
    chances = drawOnce(chances, chanceAfter);
  }
  return chances.reduce((sum, chance, successes) => (2 * successes < copies ? sum + chance : sum), 0);
}

/** The probability that more than `max` of several independent events happen. */
function chanceOfMore(chances: readonly number[], max: number): number {
  const counts = chances.reduce((before, chance) => drawOnce(before, () => chance), [1]);
  return counts.reduce((sum, chance, count) => (count > max ? sum + chance : sum), 0);
}

/**
 * Updates the probability of each count after one more draw. The draw raises a count by 1 with probability
 * `chanceAt(count)`.
 */
function drawOnce(chances: readonly number[], chanceAt: (count: number) => number): number[] {
  const next = Array.from({ length: chances.length + 1 }, () => 0);
  for (const [count, chance] of chances.entries()) {
    const raised = chance * chanceAt(count);
    next[count] = (next[count] ?? 0) + chance - raised;
    next[count + 1] = (next[count + 1] ?? 0) + raised;
  }
  return next;
}
