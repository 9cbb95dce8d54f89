/** Longest wait that a host may ask for where nothing else is said, in milliseconds. */
const MAX_REQUESTED_WAIT_MS = 60 * 60 * 1_000;

/**
 * The wait that a host asks for in `retry-after`, in milliseconds: seconds, or an HTTP date. At most `mostMs`, an hour
 * where that is not given; null when it asks for none.
 */
export function requestedWaitMs(
  retryAfter: string | null,
  nowMs: number,
  mostMs = MAX_REQUESTED_WAIT_MS,
): number | null {
  if (retryAfter === null) return null;
  const text = retryAfter.trim();
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : httpDate(text) - nowMs;
  return wait > 0 ? Math.min(mostMs, wait) : null;
}

/** Milliseconds since 1970; NaN when it is not a date. */
function httpDate(text: string): number {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text) ? Date.parse(text) : Number.NaN;
}
