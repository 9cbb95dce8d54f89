import {
  compare,
  decimal,
  divide,
  type Fraction,
  fraction,
  mean,
  multiply,
  roundUp,
  toNumber,
  ZERO,
} from "../fraction.js";
import { type Copy, countSucceeded, FEW, groupByTask, isScored } from "./copy.js";

/** The most copies of a run that may be asked for (document 2, "Limits": replay repeats). */
const MAX_REPEATS = 5;

/**
 * How many copies of each run bring a set's noise under `minGain`: spread divided by it, squared and rounded up
 * (document 2, "Warnings": `neededRepeats`). More than 5 means that no search tells such a gain from noise; over a
 * `minGain` of 0, any spread needs 6.
 */
export function neededRepeats(spread: Fraction, minGain: number): number {
  const smallest = decimal(minGain);
  if (compare(smallest, ZERO) === 0) return compare(spread, ZERO) > 0 ? MAX_REPEATS + 1 : 0;
  const ratio = divide(spread, smallest);
  const needed = Number(roundUp(multiply(ratio, ratio)));
  return Math.min(needed, Number.MAX_SAFE_INTEGER);
}

/** The copies to ask for, at most 5 (document 2, "Warnings": `suggestedRepeats`). */
export function suggestedRepeats(needed: number): number {
  return Math.min(needed, MAX_REPEATS);
}

/** Of a standard normal variable 95 of 100 values lie within this many standard deviations. */
const DEVIATIONS = 1.96;

/** Two replays to be compared: how many tasks, and how many copies of a task each side has. */
export interface ComparisonSize {
  readonly tasks: number;
  readonly own: number;
  readonly other: number;
}

/**
 * The gain that noise alone seldom reaches, of two replays of this size: `1.96 · √(v · (1/own + 1/other) / tasks)`, with
 * v from {@link varianceWithinTasks} (a replay's `detectableGain`). Null under 5 tasks, and where no task has two scored
 * copies. It is shown and decides nothing, so it is a double.
 */
export function detectableGain(live: readonly Copy[], { tasks, own, other }: ComparisonSize): number | null {
  const variance = varianceWithinTasks(live);
  if (variance === null || tasks < FEW) return null;
  return DEVIATIONS * Math.sqrt((toNumber(variance) * (1 / own + 1 / other)) / tasks);
}

/**
 * The mean, over the tasks with at least two scored copies, of the unbiased variance of a copy's success (1 or 0) within
 * its task. `live` has the copies of all replays of the live config whose fingerprint is the present one.
 */
export function varianceWithinTasks(live: readonly Copy[]): Fraction | null {
  return mean([...groupByTask(live).values()].flatMap((copies) => varianceOf(copies)));
}

function varianceOf(copies: readonly Copy[]): readonly Fraction[] {
  const scored = copies.filter(isScored).length;
  const succeeded = countSucceeded(copies);
  return scored < 2 ? [] : [fraction(succeeded * (scored - succeeded), scored * (scored - 1))];
}
