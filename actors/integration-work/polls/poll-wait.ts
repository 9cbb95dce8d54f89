/** When an integration is polled next. Times are in milliseconds. */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The wait after a failure varies by up to this share, so that polls that failed together do not retry together. */
const SPREAD = 0.1;

/**
 * Returns the wait before the first poll. It spreads integrations that were saved together over one minute. `random` is
 * in [0, 1).
 */
export function firstWaitMs(random: number): number {
  return Math.floor(random * MINUTE_MS);
}

/**
 * Returns the wait after the `failures`-th consecutive failure: `everyMs`, doubled with each failure and varied by up
 * to 10 %, but at least `retryAfterMs`. The maximum is one day in every case.
 */
export function failureWaitMs(
  everyMs: number,
  {
    failures,
    random,
    retryAfterMs,
  }: { readonly failures: number; readonly random: number; readonly retryAfterMs: number | null },
): number {
  // More doublings of one minute exceed one day.
  const doubled = everyMs * 2 ** Math.min(failures, 11);
  const spread = Math.round(doubled * (1 - SPREAD + 2 * SPREAD * random));
  return Math.min(DAY_MS, Math.max(spread, retryAfterMs ?? 0));
}
