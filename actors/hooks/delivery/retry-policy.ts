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

/** How long the request of a hook on a before event may wait for a place, counted from the event, in milliseconds. */
export const MAX_PLACE_WAIT_MS = 59_000;
