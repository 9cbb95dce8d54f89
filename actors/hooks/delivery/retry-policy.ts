import type { HookFailureCode } from "./failure-codes.js";

const retriedCodes: ReadonlySet<HookFailureCode> = new Set([
  "unreachable",
  "timeout",
  "throttled",
  "server-error",
  "tool-failed",
  "errored",
]);

/** Whether an after-hook tries again after this failure. */
export function isRetried(code: HookFailureCode): boolean {
  return retriedCodes.has(code);
}

/** Total attempts of a hook on an after event. */
export const MAX_ATTEMPTS = 8;

const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 60 * 60 * 1_000;

/** The wait before the attempt after this one: 2 seconds, doubling up to 1 hour. */
export function retryWaitMs(attempt: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}

/**
 * The wait that a receiver asks for in `retry-after`, in milliseconds: seconds, or an HTTP date. At most an hour; null
 * when it asks for none.
 */
export function requestedWaitMs(retryAfter: string | null, nowMs: number): number | null {
  if (retryAfter === null) return null;
  const text = retryAfter.trim();
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : httpDate(text) - nowMs;
  return wait > 0 ? Math.min(MAX_WAIT_MS, wait) : null;
}

/** Milliseconds since 1970; NaN when it is not a date. */
function httpDate(text: string): number {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text) ? Date.parse(text) : Number.NaN;
}

/** How long the request of a hook on a before event may wait for a place, counted from the event, in milliseconds. */
export const MAX_PLACE_WAIT_MS = 59_000;
