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

const retried: ReadonlySet<HookFailureCode> = new Set([
  "unreachable",
  "timeout",
  "throttled",
  "server-error",
  "tool-failed",
  "errored",
]);

/** Whether an after-hook tries again after this failure. */
export function isRetried(code: HookFailureCode): boolean {
  return retried.has(code);
}

/** Attempts of a hook on an after event, in all. */
export const MAX_ATTEMPTS = 8;

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 60 * 60 * 1_000;

/** The wait before the attempt after this one: 2 seconds, doubling up to 1 hour. */
export function waitAfter(attempt: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}

/** What a response status means; null for one that is no failure. */
export function codeOfStatus(status: number): HookFailureCode | null {
  if (status >= 200 && status < 300) return null;
  if (status === 408 || status === 425 || status === 429) return "throttled";
  return status >= 500 ? "server-error" : "rejected";
}
