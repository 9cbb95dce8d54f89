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

/** Maximum number of copies per run (document 2, "Limits": replay repeats). */
const MAX_REPEATS = 5;

/**
 * The number of copies per run that reduces a set's noise to at most `minGain`: (spread / `minGain`)², rounded up
 * (document 2, "Warnings": `neededRepeats`). If the number is more than 5, no search can distinguish a gain of this
 * size from noise. For a `minGain` of 0, the number is 6 if the spread is positive, and otherwise 0.
 */
export function neededRepeats(spread: Fraction, minGain: number): number {
  const smallest = decimal(minGain);
  if (compare(smallest, ZERO) === 0) return compare(spread, ZERO) > 0 ? MAX_REPEATS + 1 : 0;
  const ratio = divide(spread, smallest);
  const needed = Number(roundUp(multiply(ratio, ratio)));
  return Math.min(needed, Number.MAX_SAFE_INTEGER);
}

/** The number of copies to suggest, at most 5 (document 2, "Warnings": `suggestedRepeats`). */
export function suggestedRepeats(needed: number): number {
  return Math.min(needed, MAX_REPEATS);
}

/** 95 % of a standard normal variable's values are within this many standard deviations of the mean. */
const DEVIATIONS = 1.96;

/** The size of a comparison of two replays: the number of tasks, and the number of copies of each run on each side. */
export interface ComparisonSize {
  readonly tasks: number;
  readonly own: number;
  readonly other: number;
}

/**
 * The gain or loss that noise alone exceeds in about 5 % of comparisons of this size: `1.96 · √(v · (1/own + 1/other) /
 * tasks)`, with v from {@link varianceWithinTasks} (a replay's `detectableGain`). Null for fewer than 5 tasks, and if
 * no task has two scored copies. The value is only displayed and decides nothing, so it is a double.
 */
export function detectableGain(live: readonly Copy[], { tasks, own, other }: ComparisonSize): number | null {
  const variance = varianceWithinTasks(live);
  if (variance === null || tasks < FEW) return null;
  return DEVIATIONS * Math.sqrt((toNumber(variance) * (1 / own + 1 / other)) / tasks);
}

/**
 * The mean, over the tasks with at least two scored copies, of the unbiased variance of a copy's success (1 or 0)
 * within its task. Unbiased means divided by the number of copies minus one. Null if there is no such task. `live` has
 * the copies of live replays with the same config.
 */
export function varianceWithinTasks(live: readonly Copy[]): Fraction | null {
  return mean([...groupByTask(live).values()].flatMap((copies) => toVariance(copies)));
}

function toVariance(copies: readonly Copy[]): readonly Fraction[] {
  const scored = copies.filter(isScored).length;
  const succeeded = countSucceeded(copies);
  return scored < 2 ? [] : [fraction(succeeded * (scored - succeeded), scored * (scored - 1))];
}
