import type { HookFailureCode } from "./failure-codes.js";

const retriedCodes: ReadonlySet<HookFailureCode> = new Set([
  "unreachable",
  "timeout",
  "throttled",
  "server-error",
  "tool-failed",
  "errored",
]);

/** Returns whether a hook on an `after` event retries after this failure. */
export function isRetried(code: HookFailureCode): boolean {
  return retriedCodes.has(code);
}

/** Maximum time that a request on a `before` event waits for a slot, from the time of the event, in milliseconds. */
export const MAX_PLACE_WAIT_MS = 59_000;
