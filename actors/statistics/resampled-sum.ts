import { type Fraction, toNumber } from "../fraction.js";
import { raise, transform, transformError } from "./fourier.js";

/**
 * A value of a sample, and how often the value occurs. The value is stored as its difference from the sample's smallest
 * value. This difference is a non-negative integer.
 */
export interface ValueCount {
  readonly value: number;
  readonly count: number;
}

/** A value for each end of a distribution. */
export interface Ends<Each> {
  readonly low: Each;
  readonly high: Each;
}

/**
 * The type 1 quantiles of the sum of `size` values, drawn with replacement from a sample of `size` values. The quantile
 * of a probability is the smallest sum whose cumulative probability is not below this probability.
 *
 * The distribution of the sum is the sample's own distribution, convolved with itself. A Fourier transform first
 * computes it in doubles, with an error bound, within milliseconds. If a cumulative probability is too close to a
 * requested probability for this error, the function counts all resamples in integers instead. So the result is always
 * exact.
 */
export function resampledSumQuantiles(
  sample: readonly ValueCount[],
  size: number,
  probabilities: Ends<Fraction>,
): Ends<number> {
  return boundedQuantiles(sample, size, probabilities) ?? countedQuantiles(sample, size, probabilities);
}

/** Computes the quantiles in doubles. Returns null if the error leaves a quantile undecided. */
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

/**
 * The probability of each sum, from 0 up: transforms the sample's distribution, raises it to the power of `size`, and
 * transforms it back.
 */
function resampledDensity(sample: readonly ValueCount[], size: number): Float64Array {
  const sums = size * Math.max(...sample.map(({ value }) => value)) + 1;
  const length = 2 ** Math.ceil(Math.log2(sums));
  const signal = { real: new Float64Array(length), imaginary: new Float64Array(length) };
  for (const { value, count } of sample) signal.real[value] = count / size;
  transform(signal);
  raise(signal, size);
  // The inverse transform: the same transform with real and imaginary parts swapped, divided by the length.
  transform({ real: signal.imaginary, imaginary: signal.real });
  return signal.real.subarray(0, sums).map((each) => each / length);
}

/**
 * The maximum error of a cumulative probability. As a vector, the sample's transform has a relative error of {@link
 * transformError}. The power multiplies this error by `size` and adds three roundings for each factor. The inverse
 * transform adds one more error.
 *
 * The error of a sum of entries is at most the vector's error times the square root of the number of entries, plus the
 * roundings of the additions. The result is doubled to cover products of errors.
 */
function cumulativeError(length: number, size: number): number {
  const ofDensity = (size + 1) * (transformError(2 * length) + 3 * 2 ** -53);
  return 2 * (Math.sqrt(2 * length) * ofDensity + length * 2 ** -53);
}

/** Computes the quantiles by counting resamples in integers. Takes seconds for many values on a fine scale. */
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
 * For each sum from 0 up, the number of the size^size resamples with that sum. These are the coefficients of the
 * sample's polynomial to the power of `size`, by the recurrence of J. C. P. Miller.
 */
function countResamples(sample: readonly ValueCount[], size: number): bigint[] {
  const zeros = BigInt(sample.find(({ value }) => value === 0)?.count ?? 0);
  const others = sample.filter(({ value }) => value > 0);
  const maxSum = size * Math.max(...sample.map(({ value }) => value));
  const resamples = [zeros ** BigInt(size)];
  for (let sum = 1; sum <= maxSum; sum++) {
    let weighted = 0n;
    for (const { value, count } of others) {
      const before = resamples[sum - value] ?? 0n;
      if (before !== 0n) weighted += BigInt(((size + 1) * value - sum) * count) * before;
    }
    resamples.push(weighted / (BigInt(sum) * zeros));
  }
  return resamples;
}
