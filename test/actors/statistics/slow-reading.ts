import type { Copy } from "../../../actors/statistics/copy.js";

/**
 * The unit of these functions: they count a whole as 2,520 units. Every number up to ten divides 2,520, so shares of up
 * to ten copies are integers.
 *
 * The functions here implement the figures a second time, from their definitions. They enumerate all resamples with
 * nested loops, and share no code with the functions under test.
 */
export const WHOLE = 2_520;

/** Returns the share of each task with a scored copy, in units of 1/{@link WHOLE}. */
export function slowShares(copies: readonly Copy[]): Record<string, number> {
  const shares: Record<string, number> = {};
  for (const { taskId } of copies) {
    let scored = 0;
    let succeeded = 0;
    for (const copy of copies) {
      if (copy.taskId !== taskId) continue;
      if (copy.result === "succeeded") succeeded += 1;
      if (copy.result === "succeeded" || copy.result === "failed") scored += 1;
    }
    if (scored > 0) shares[taskId] = (succeeded * WHOLE) / scored;
  }
  return shares;
}

export function slowDifferences(own: readonly Copy[], other: readonly Copy[]): number[] {
  const before = slowShares(other);
  const differences: number[] = [];
  for (const [taskId, share] of Object.entries(slowShares(own))) {
    const shareBefore = before[taskId];
    if (shareBefore !== undefined) differences.push(share - shareBefore);
  }
  return differences;
}

export interface SlowInterval {
  /** Sums over all tasks, in units of 1/{@link WHOLE}. */
  readonly sum: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Enumerates all n^n resamples of n values, and returns the interval of their sums. Each bound is the smallest sum for
 * which at least 2.5 % (`low`) or 97.5 % (`high`) of all sums are not larger.
 */
export function slowInterval(values: readonly number[]): SlowInterval {
  let sums = [0];
  for (const _ of values) sums = sums.flatMap((sum) => values.map((value) => sum + value));
  sums.sort((a, b) => a - b);
  const least = (percentTimes10: number): number => {
    for (const [index, sum] of sums.entries()) if ((index + 1) * 1_000 >= percentTimes10 * sums.length) return sum;
    throw new Error("no resample");
  };
  return { sum: values.reduce((a, b) => a + b), low: least(25), high: least(975) };
}

/** Returns the verdict on differences, with the smallest gain in ten-thousandths. */
export function slowVerdict(differences: readonly number[], minGainTimes10000: number): string {
  const { sum, low, high } = slowInterval(differences);
  const smallest = minGainTimes10000 * WHOLE * differences.length;
  if (low > 0 && sum * 10_000 >= smallest) return "better";
  if (high < 0 && -sum * 10_000 >= smallest) return "worse";
  return "within-noise";
}

/** Returns the tasks that regressed, by counting. */
export function slowRegressed(candidate: readonly Copy[], baseline: readonly Copy[]): string[] {
  const tasks = [...new Set(candidate.map(({ taskId }) => taskId))].sort();
  return tasks.filter((taskId) => {
    const results = (copies: readonly Copy[]) =>
      copies.filter((copy) => copy.taskId === taskId).map((copy) => copy.result);
    const [after, before] = [results(candidate), results(baseline)];
    if (after.includes(null) || before.includes(null)) return false;
    const [failedAfter, failedBefore] = [count(after, "failed"), count(before, "failed")];
    return failedBefore === 0 && before.includes("succeeded") && failedAfter > count(after, "succeeded");
  });
}

function count<Item>(items: readonly Item[], wanted: Item): number {
  return items.filter((item) => item === wanted).length;
}
