import { type Fraction, fraction, greatestCommonDivisor, leastCommonMultiple, multiply } from "../fraction.js";
import { type Ends, resampledSumQuantiles, type ValueCount } from "./resampled-sum.js";

/** The probabilities of the two bounds: 2.5 % and 97.5 %. */
const TAILS: Ends<Fraction> = { low: fraction(1, 40), high: fraction(39, 40) };

/** The denominator of the finest scale: 840 is the least common multiple of 1 to 8. */
const FINEST = 840n;

/**
 * The 95 % interval of a mean, bootstrapped over tasks (document 2, "Replay (read)": `totals.interval`). It is the
 * limit of infinitely many resamples, so it is exact, needs no seed, and is the same in every response. Its bounds are
 * type 1 quantiles. `values` has one value per task, such as the task's share, or the difference of its two shares.
 * Null for an empty list.
 *
 * The scale is one over the least common multiple of the values' denominators. If that multiple is above 840, each
 * value is first rounded to the nearest 1/840, with ties to even, so that a mirrored sample has the mirrored interval.
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

/** Rounds to the nearest integer, with ties to even. */
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
