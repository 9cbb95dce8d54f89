import { FEW } from "./copy.js";

/** Times of which so many percent took no longer (document 3, "Shipping fields": percentiles), in milliseconds. */
export interface Percentiles {
  /** Null when nothing was measured, as the others. */
  readonly p50Ms: number | null;
  readonly p75Ms: number | null;
  readonly p90Ms: number | null;
  readonly p95Ms: number | null;
  readonly count: number;
  /** Fewer than 5 were measured. */
  readonly few: boolean;
}

/** Of times in whole milliseconds, in any order. */
export function percentilesOf(timesMs: readonly number[]): Percentiles {
  const sorted = [...timesMs].sort((a, b) => a - b);
  const at = (percent: number): number | null => percentile(sorted, percent);
  return { p50Ms: at(50), p75Ms: at(75), p90Ms: at(90), p95Ms: at(95), count: sorted.length, few: sorted.length < FEW };
}

/** Linear between the two nearest (R's type 7). Products of whole numbers, so that only the last step rounds. */
function percentile(sorted: readonly number[], percent: number): number | null {
  const hundredths = (sorted.length - 1) * percent;
  const [before, rest] = [Math.floor(hundredths / 100), hundredths % 100];
  const [lower, upper] = [sorted[before], sorted[before + 1]];
  if (lower === undefined) return null;
  return upper === undefined ? lower : (100 * lower + rest * (upper - lower)) / 100;
}

/** The value in the middle; of two, the earlier (document 2, "Replay set": `composition.median`). Null of nothing. */
export function earlierMedian<Time extends number | string>(times: readonly Time[]): Time | null {
  const sorted = [...times].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}
