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

/** Why a step makes no request. */
export interface UnpreparedRequest {
  readonly step: string;
  readonly code: HookFailureCode;
  readonly reason: string;
}

/** The failure that a response status means; null for a success. */
export function toFailureCode(status: number): HookFailureCode | null {
  if (status >= 200 && status < 300) return null;
  if (status === 408 || status === 425 || status === 429) return "throttled";
  return status >= 500 ? "server-error" : "rejected";
}

/** Message of a `timeout` where the hooks on a before event used up their common time limit. */
export const BEFORE_EVENT_TIMEOUT = "the hooks on the event had their 60 seconds";

/** Reason of an `errored` request that a kill cut short: nobody knows whether it arrived. */
export const INTERRUPTED = "the service was killed before there was an answer; the request may have arrived";

/** The message of a hook that blocks on failure (configuration API, Refusing an event). */
export function toRefusal(failed: { readonly hook: string; readonly step: string; readonly reason: string }): string {
  return `Hook ${failed.hook} failed at step ${failed.step} and blocks on failure. Reason: ${failed.reason}`;
}

/** The reason of a `timeout` where the service was down when the time of a before event ended, and nothing was sent. */
export const NOT_RUNNING =
  "the service was not running when the 60 seconds of the event ended; its request was not sent";

/** The reason of a `timeout` where the request of a hook on a before event was never sent. */
export const NO_PLACE = "no place for its request came free in the 60 seconds of the event";
