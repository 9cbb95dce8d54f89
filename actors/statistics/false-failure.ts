import { type Copy, countSucceeded, groupByTask, isScored } from "./copy.js";

/** A check to be: the copies of each run, and how many regressed tasks it allows. */
export interface PlannedCheck {
  readonly repeats: number;
  readonly mostRegressions: number;
}

/**
 * The chance, from 0 to 1, that a check of a change that changes nothing fails against this baseline (a check's
 * `warnings`). Null ("unmeasured") where no task has two scored copies. It is shown and decides nothing, so it is a double.
 *
 * Only a task whose scored copies all succeeded can regress. How likely a copy of it fails is not in these copies, but in
 * how often the copies of all tasks differ: the tasks' rates are taken to be spread as a beta distribution whose mean and
 * whose variance within tasks are the ones measured. Where no copy differs, one copy of one more task is taken to.
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

/** A task's copies, counted. */
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
 * A task's copies as draws from Pólya's urn, which is a rate drawn from a beta distribution: the first succeeds with the
 * chance `mean`, and each that was drawn pulls the next one by `likeness` towards itself (0: all tasks are alike).
 */
interface Urn {
  readonly mean: number;
  readonly likeness: number;
}

function measureUrn(tasks: readonly Tally[]): Urn | null {
  const repeated = tasks.filter(({ scored }) => scored > 1);
  if (repeated.length === 0) return null;
  const most = Math.max(...repeated.map(({ scored }) => scored));
  const hasFlips = repeated.some(({ scored, succeeded }) => succeeded > 0 && succeeded < scored);
  const supposed = hasFlips ? [] : [{ runs: 1, scored: most, succeeded: most - 1 }];
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

/** The chance that fewer than half of the next `copies` succeed, after `succeeded` that all did. */
function regressionChance({ mean, likeness }: Urn, succeeded: number, copies: number): number {
  let chances = [1];
  for (let drawn = 0; drawn < copies; drawn++) {
    const chanceAfter = (successes: number): number =>
      (mean + (succeeded + successes) * likeness) / (1 + (succeeded + drawn) * likeness);
    chances = drawOnce(chances, chanceAfter);
  }
  return chances.reduce((sum, chance, successes) => (2 * successes < copies ? sum + chance : sum), 0);
}

/** The chance of more than `most` of independent events. */
function chanceOfMore(chances: readonly number[], most: number): number {
  const counts = chances.reduce((before, chance) => drawOnce(before, () => chance), [1]);
  return counts.reduce((sum, chance, count) => (count > most ? sum + chance : sum), 0);
}

/** From the chances of each count, those after one more draw that raises a count by 1 with the chance `chanceAt(count)`. */
function drawOnce(chances: readonly number[], chanceAt: (count: number) => number): number[] {
  const next = Array.from({ length: chances.length + 1 }, () => 0);
  for (const [count, chance] of chances.entries()) {
    const raised = chance * chanceAt(count);
    next[count] = (next[count] ?? 0) + chance - raised;
    next[count + 1] = (next[count + 1] ?? 0) + raised;
  }
  return next;
}
