/**
 * The retry policy of requests to other hosts: 8 attempts; the first retry follows after 2 seconds, and the wait
 * doubles up to 1 hour. The policy applies to hooks with `after` timing, bindings, lookups and the code host.
 */

/** Maximum number of attempts. */
export const MAX_ATTEMPTS = 8;

const FIRST_WAIT_MS = 2_000;
/** Maximum wait before a retry, in milliseconds. */
export const MAX_WAIT_MS = 60 * 60 * 1_000;

/**
 * Returns the wait after a failed attempt, in milliseconds. `attempt` counts from 1. If the host requests a longer wait
 * (`requestedMs`), that wait applies, up to {@link MAX_WAIT_MS}.
 */
export function retryWaitMs(attempt: number, requestedMs: number | null = null): number {
  return Math.min(MAX_WAIT_MS, Math.max(FIRST_WAIT_MS * 2 ** (attempt - 1), requestedMs ?? 0));
}
