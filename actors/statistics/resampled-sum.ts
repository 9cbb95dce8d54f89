import { type Fraction, toNumber } from "../fraction.js";
import { raise, transform, transformError } from "./fourier.js";

/** A value of the sample less the least one, a whole number from 0, and how many of the sample have it. */
export interface ValueCount {
  readonly value: number;
  readonly count: number;
}

/** What is asked for or found at both ends of a distribution. */
export interface Ends<Each> {
  readonly low: Each;
  readonly high: Each;
}

/**
 * The type 1 quantiles of the sum of `size` values drawn with replacement from a sample of `size` values: for each of two
 * probabilities the least sum whose cumulative probability is not below it.
 *
 * The distribution is the sample's own, convolved with itself. It is computed by a Fourier transform first, in doubles
 * with a bound of their error, which takes milliseconds. Where a cumulative probability is too near to the one asked for
 * to tell which is less (and only there), all resamples are counted in whole numbers instead. So the answer is exact in
 * either case.
 */
export function resampledSumQuantiles(
  sample: readonly ValueCount[],
  size: number,
  probabilities: Ends<Fraction>,
): Ends<number> {
  return boundedQuantiles(sample, size, probabilities) ?? countedQuantiles(sample, size, probabilities);
}

/** In doubles; null when their error leaves a quantile open. */
export function boundedQuantiles(
  sample: readonly ValueCount[],
  size: number,
  probabilities: Ends<Fraction>,
): Ends<number> | null {
  const density = resampledDensity(sample, size);
  let sum = 0;
  const cumulative = density.map((each) => {
    sum += each;
    return sum;
  });
  const error = cumulativeError(density.length, size);
  const find = (probability: Fraction): number | null => {
    const wanted = toNumber(probability);
    const index = cumulative.findIndex((each) => each >= wanted - error);
    return (cumulative[index] ?? 0) > wanted + error ? index : null;
  };
  const [low, high] = [find(probabilities.low), find(probabilities.high)];
  return low === null || high === null ? null : { low, high };
}

/** The probability of each sum, from 0 up: the transform of the sample's, raised to the power of `size`, and back. */
function resampledDensity(sample: readonly ValueCount[], size: number): Float64Array {
  const sums = size * Math.max(...sample.map(({ value }) => value)) + 1;
  const length = 2 ** Math.ceil(Math.log2(sums));
  const signal = { real: new Float64Array(length), imaginary: new Float64Array(length) };
  for (const { value, count } of sample) signal.real[value] = count / size;
  transform(signal);
  raise(signal, size);
  // The way back is the same with the real and the imaginary parts swapped, divided by the length.
  transform({ real: signal.imaginary, imaginary: signal.real });
  return signal.real.subarray(0, sums).map((each) => each / length);
}

/**
 * How far off a cumulative probability may be. As vectors, the sample's transform is off by a part of {@link
 * transformError}; raised to a power by that many times it and three roundings each; the way back adds one. The sum of
 * some entries is off by at most the root of their number times that, and by the roundings of summing. Doubled, for what
 * products of errors add.
 */
function cumulativeError(length: number, size: number): number {
  const ofDensity = (size + 1) * (transformError(2 * length) + 3 * 2 ** -53);
  return 2 * (Math.sqrt(2 * length) * ofDensity + length * 2 ** -53);
}

/** By counting the resamples, in whole numbers. Takes seconds for many values on a fine lattice. */
export function countedQuantiles(
  sample: readonly ValueCount[],
  size: number,
  probabilities: Ends<Fraction>,
): Ends<number> {
  const all = BigInt(size) ** BigInt(size);
  let sum = 0n;
  const cumulative = countResamples(sample, size).map((count) => {
    sum += count;
    return sum;
  });
  const find = ({ numerator, denominator }: Fraction): number =>
    cumulative.findIndex((resamples) => resamples * denominator >= all * numerator);
  return { low: find(probabilities.low), high: find(probabilities.high) };
}

/**
 * For each sum from 0 up, how many of the size^size resamples have it: the coefficients of the sample's
 * polynomial to the power of `size`, by the recurrence of J. C. P. Miller.
 */
function countResamples(sample: readonly ValueCount[], size: number): bigint[] {
  const zeros = BigInt(sample.find(({ value }) => value === 0)?.count ?? 0);
  const others = sample.filter(({ value }) => value > 0);
  const most = size * Math.max(...sample.map(({ value }) => value));
  const resamples = [zeros ** BigInt(size)];
  for (let sum = 1; sum <= most; sum++) {
    let weighted = 0n;
    for (const { value, count } of others) {
      const before = resamples[sum - value] ?? 0n;
      if (before !== 0n) weighted += BigInt(((size + 1) * value - sum) * count) * before;
    }
    resamples.push(weighted / (BigInt(sum) * zeros));
  }
  return resamples;
}
