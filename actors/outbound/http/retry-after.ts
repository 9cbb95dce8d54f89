import { MAX_WAIT_MS } from "./retry-wait.js";

/**
 * Returns the wait that a host requests in `retry-after`, as seconds or an HTTP date. The result is in milliseconds,
 * and at most `maxMs`. Returns null if the host requests no wait.
 */
export function requestedWaitMs(retryAfter: string | null, nowMs: number, maxMs = MAX_WAIT_MS): number | null {
  if (retryAfter === null) return null;
  const text = retryAfter.trim();
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : httpDate(text) - nowMs;
  return wait > 0 ? Math.min(maxMs, wait) : null;
}

/**
 * Parses an HTTP date (RFC 9110, section 5.6.7) to milliseconds since 1970; NaN if the text is not a date. A date in
 * the form of C's `asctime` names no time zone and means UTC, but `Date.parse` would use the machine's time zone.
 */
function httpDate(text: string): number {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return Number.NaN;
  return Date.parse(/\d$/.test(text) && !/[+-]\d{4}$/.test(text) ? `${text} GMT` : text);
}
