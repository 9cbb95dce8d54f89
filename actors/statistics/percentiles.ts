import { FEW } from "./copy.js";

/** Percentiles of times, in milliseconds (document 3, "Shipping fields": percentiles). */
export interface Percentiles {
  /** Each percentile is null if nothing was measured. */
  readonly p50Ms: number | null;
  readonly p75Ms: number | null;
  readonly p90Ms: number | null;
  readonly p95Ms: number | null;
  readonly count: number;
  /** Whether fewer than 5 times were measured. */
  readonly few: boolean;
}

/** Computes the percentiles of times in whole milliseconds, in any order. */
export function toPercentiles(timesMs: readonly number[]): Percentiles {
  const sorted = [...timesMs].sort((a, b) => a - b);
  const at = (percent: number): number | null => percentile(sorted, percent);
  return { p50Ms: at(50), p75Ms: at(75), p90Ms: at(90), p95Ms: at(95), count: sorted.length, few: sorted.length < FEW };
}

/**
 * Interpolates linearly between the two nearest values (R's type 7). Multiplies integers and divides last, so only the
 * division rounds. Null for an empty list.
 */
function percentile(sorted: readonly number[], percent: number): number | null {
  const hundredths = (sorted.length - 1) * percent;
  const [before, rest] = [Math.floor(hundredths / 100), hundredths % 100];
  const [lower, upper] = [sorted[before], sorted[before + 1]];
  if (lower === undefined) return null;
  return upper === undefined ? lower : (100 * lower + rest * (upper - lower)) / 100;
}

/**
 * Returns the middle value; for an even number of values, the earlier of the two (document 2, "Replay set":
 * `composition.median`). Null for an empty list.
 */
export function earlierMedian<Time extends number | string>(times: readonly Time[]): Time | null {
  const sorted = [...times].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}
