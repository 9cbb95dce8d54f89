import { add, compare, divide, type Fraction, fraction, multiply, subtract, toNumber, ZERO } from "../../fraction.js";

/** What a task cost on both sides, by scored copy. */
export interface CostPair {
  readonly own: Fraction;
  readonly seed: Fraction;
}

/** Whether a candidate costs less than the seed on held-out tasks, beyond chance. */
export interface HeldOutCost {
  /** The tasks whose cost is known on both sides. */
  readonly tasks: number;
  /**
   * How likely a config that costs the same is to look as cheap: the share of all ways to swap the sides of each task that
   * come out as cheap or cheaper, from 0 to 1.
   */
  readonly chance: number;
  /** Whether that is one in 120 at most. */
  readonly cheaper: boolean;
}

/** A fortieth, as beyond either bound of a 95 % interval, for each of the three candidates that are held out at once. */
const ONE_IN = 120n;

/** With fewer tasks nothing is cheaper beyond chance: all sides of six come out alike in one of 64 ways. */
export const MIN_COST_TASKS = 7;

/** What a difference is rounded to a part of, to the nearest, so that all ways can be counted. */
const FINEST = 840n;

/**
 * By an exact randomization test of the tasks' relative differences of cost, (own - seed) / (own + seed): where neither
 * config costs less, each task's sides might as well be swapped. Null without a task.
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

/** In parts of {@link FINEST}; below 0 when the candidate is cheaper. */
function relativeDifference({ own, seed }: CostPair): number {
  const both = add(own, seed);
  if (compare(both, ZERO) === 0) return 0;
  const { numerator, denominator } = multiply(divide(subtract(own, seed), both), fraction(FINEST));
  const magnitude = (2n * (numerator < 0n ? -numerator : numerator) + denominator) / (2n * denominator);
  return Number(numerator < 0n ? -magnitude : magnitude);
}

/** The ways to give each difference a sign by which the negative ones come to `saved` at least. */
function countAsCheap(differences: readonly number[], saved: number): bigint {
  // By what the negative ones come to, the ways so far. Up to 50 tasks have 2^50 ways, which doubles count exactly.
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
