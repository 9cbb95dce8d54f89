/** When an integration is polled next. Times in milliseconds. */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A failure waits up to this share longer or shorter, so that what failed together is not asked together again. */
const SPREAD = 0.1;

/** How long the first poll waits: what was written together is spread over a minute. `random` is in [0, 1). */
export function firstWaitMs(random: number): number {
  return Math.floor(random * MINUTE_MS);
}

/**
 * How long a poll waits after its `failures`-th failure in a row: `everyMs` doubled with each, a tenth more or less, at
 * most a day, but as long as the host asks for, which is obeyed for a day at most, too.
 */
export function failureWaitMs(
  everyMs: number,
  {
    failures,
    random,
    retryAfterMs,
  }: { readonly failures: number; readonly random: number; readonly retryAfterMs: number | null },
): number {
  // More doublings of a minute than this are over a day.
  const doubled = everyMs * 2 ** Math.min(failures, 11);
  const spread = Math.round(doubled * (1 - SPREAD + 2 * SPREAD * random));
  return Math.min(DAY_MS, Math.max(spread, retryAfterMs ?? 0));
}
