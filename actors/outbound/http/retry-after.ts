import { MAX_WAIT_MS } from "./retry-wait.js";

/**
 * Returns the wait that a host requests in `retry-after`, as seconds or an HTTP date, in milliseconds. At most
 * `mostMs`, which is {@link MAX_WAIT_MS} by default; null if the host requests none.
 */
export function requestedWaitMs(retryAfter: string | null, nowMs: number, mostMs = MAX_WAIT_MS): number | null {
  if (retryAfter === null) return null;
  const text = retryAfter.trim();
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : httpDate(text) - nowMs;
  return wait > 0 ? Math.min(mostMs, wait) : null;
}

/** Parses an HTTP date to milliseconds since 1970; NaN if it is not a date. */
function httpDate(text: string): number {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text) ? Date.parse(text) : Number.NaN;
}
