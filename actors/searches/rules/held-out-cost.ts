import { add, compare, divide, type Fraction, fraction, multiply, subtract, toNumber, ZERO } from "../../fraction.js";

/** The cost of a task on both sides, per scored copy. */
export interface CostPair {
  readonly own: Fraction;
  readonly seed: Fraction;
}

/** Whether a candidate costs less than the seed on held-out tasks, beyond chance. */
export interface HeldOutCost {
  /** The number of tasks whose cost is known on both sides. */
  readonly tasks: number;
  /**
   * The probability, from 0 to 1, that a config with the seed's cost looks at least as cheap as the candidate. The test
   * tries all ways to swap the two sides of tasks. The probability is the share of these ways whose result is at least
   * as cheap.
   */
  readonly chance: number;
  /** Whether `chance` is at most 1 in 120. */
  readonly cheaper: boolean;
}

/**
 * The inverse of the significance level, 1/120. The level is 1/40 (one tail of a 95 % interval), divided by three: the
 * maximum number of candidates that are replayed on the held-out runs.
 */
const ONE_IN = 120n;

/**
 * Minimum number of tasks for `cheaper`. With six tasks, even the most extreme result has a chance of 1 in 64, which is
 * above the limit of 1 in 120.
 */
export const MIN_COST_TASKS = 7;

/** Differences are rounded to the nearest 1/840, so that the number of distinct sums stays small enough to count. */
const FINEST = 840n;

/**
 * Compares costs with an exact randomization test of the tasks' relative cost differences, (own - seed) / (own + seed).
 * The test assumes that neither config costs less, so a swap of the two sides of any task is equally likely. Returns
 * null if there are no tasks.
 */
export function compareHeldOutCosts(pairs: readonly CostPair[]): HeldOutCost | null {
  if (pairs.length === 0) return null;
  const differences = pairs.map(relativeDifference);
  const saved = differences.filter((each) => each < 0).reduce((sum, each) => sum - each, 0);
  const [ways, all] = [countAsCheap(differences, saved), 2n ** BigInt(differences.length)];
  return {
    tasks: pairs.length,
    chance: toNumber(fraction(ways, all)),
    cheaper: ways * ONE_IN <= all,
  };
}

/** Returns the relative difference in parts of {@link FINEST}; negative if the candidate is cheaper. */
function relativeDifference({ own, seed }: CostPair): number {
  const both = add(own, seed);
  if (compare(both, ZERO) === 0) return 0;
  const { numerator, denominator } = multiply(divide(subtract(own, seed), both), fraction(FINEST));
  const magnitude = (2n * (numerator < 0n ? -numerator : numerator) + denominator) / (2n * denominator);
  return Number(numerator < 0n ? -magnitude : magnitude);
}

/** Counts the ways to choose the sign of each difference so that the negative differences sum to at least `saved`. */
function countAsCheap(differences: readonly number[], saved: number): bigint {
  // The number of ways so far, by the sum of the negative differences. Up to 50 tasks have at most 2^50 ways. A
  // JavaScript number represents such a count exactly.
  let ways = [1];
  for (const difference of differences) {
    const size = Math.abs(difference);
    const next = new Array<number>(ways.length + size).fill(0);
    for (const [sum, count] of ways.entries()) {
      next[sum] = (next[sum] ?? 0) + count;
      next[sum + size] = (next[sum + size] ?? 0) + count;
    }
    ways = next;
  }
  return BigInt(ways.slice(saved).reduce((sum, count) => sum + count, 0));
}
