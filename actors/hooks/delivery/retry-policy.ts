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

/** How long the request of a hook on a before event may wait for a place, counted from the event, in milliseconds. */
export const MAX_PLACE_WAIT_MS = 59_000;
