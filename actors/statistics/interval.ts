import { type Fraction, fraction, greatestCommonDivisor, leastCommonMultiple, multiply } from "../fraction.js";
import { type Ends, resampledSumQuantiles, type ValueCount } from "./resampled-sum.js";

/** The probabilities whose quantiles are the bounds: 2.5 and 97.5 %. */
const TAILS: Ends<Fraction> = { low: fraction(1, 40), high: fraction(39, 40) };

/** The finest lattice: 840 is the least number that all of 1 to 8 divide. */
const FINEST = 840n;

/**
 * The 95 % interval of a mean, bootstrapped over tasks (document 2, "Replay (read)": `totals.interval`), in the limit of
 * infinitely many resamples: exact, without a seed, equal in every answer. `values` has one for each task: its share, or
 * the difference of its two shares. Null of nothing.
 *
 * Values lie on a lattice of one over the least common multiple of their denominators. When that is above 840, each is
 * rounded to the nearest 1/840 first, ties to the even, so that what mirrors a sample mirrors its interval.
 */
export function bootstrapMean(values: readonly Fraction[]): Ends<Fraction> | null {
  if (values.length === 0) return null;
  const lattice = values.reduce((multiple, { denominator }) => leastCommonMultiple(multiple, denominator), 1n);
  const unit = lattice > FINEST ? FINEST : lattice;
  const points = values.map((value) => roundToEven(multiply(value, fraction(unit))));
  const least = points.reduce((a, b) => (b < a ? b : a));
  const step = points.reduce((divisor, point) => greatestCommonDivisor(divisor, point - least), 0n) || 1n;
  const sample = countValues(points.map((point) => Number((point - least) / step)));
  const sums = resampledSumQuantiles(sample, values.length, TAILS);
  const size = BigInt(values.length);
  const toMean = (sum: number): Fraction => fraction(least * size + BigInt(sum) * step, unit * size);
  return { low: toMean(sums.low), high: toMean(sums.high) };
}

/** The nearest whole number; of two as near, the even one. */
function roundToEven({ numerator, denominator }: Fraction): bigint {
  const twice = 2n * numerator + denominator;
  const over = 2n * denominator;
  const down = twice / over - (twice % over < 0n ? 1n : 0n);
  const isTie = down * over === twice;
  return isTie && down % 2n !== 0n ? down - 1n : down;
}

function countValues(values: readonly number[]): readonly ValueCount[] {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count }));
}
