/** Why a step failed (configuration API, Hook step failure codes). */
export type HookFailureCode =
  | "unreachable"
  | "timeout"
  | "throttled"
  | "server-error"
  | "tool-failed"
  | "errored"
  | "rejected"
  | "not-allowed"
  | "unwritable"
  | "broken"
  | "loop"
  | "superseded";

/** Why a step sends no request. */
export interface UnpreparedRequest {
  readonly step: string;
  readonly code: HookFailureCode;
  readonly reason: string;
}

/** Returns the failure that a response status indicates; null for a success. */
export function toFailureCode(status: number): HookFailureCode | null {
  if (status >= 200 && status < 300) return null;
  if (status === 408 || status === 425 || status === 429) return "throttled";
  return status >= 500 ? "server-error" : "rejected";
}

/** The reason of a `timeout` when the hooks on a `before` event exceeded their common time limit. */
export const BEFORE_EVENT_TIMEOUT = "the hooks on the event used up their 60 seconds";

/** The reason of an `errored` request that a process kill interrupted: it is unknown whether the request arrived. */
export const INTERRUPTED = "the service was killed before there was an answer; the request may have arrived";

/**
 * Returns the message with which a failed hook refuses an event (configuration API, Refusing an event). Only hooks that
 * block on failure refuse.
 */
export function toRefusal(failed: { readonly hook: string; readonly step: string; readonly reason: string }): string {
  return `Hook ${failed.hook} failed at step ${failed.step} and blocks on failure. Reason: ${failed.reason}`;
}

/**
 * The reason of a `timeout` when the service was down at the time limit of a `before` event, so that nothing was sent.
 */
export const NOT_RUNNING =
  "the service was not running when the 60 seconds of the event ended; its request was not sent";

/** The reason of a `timeout` when a request on a `before` event got no slot and was never sent. */
export const NO_PLACE = "its request got no slot within the event's 60 seconds";
