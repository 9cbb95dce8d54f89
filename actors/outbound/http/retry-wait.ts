/** Maximum number of attempts for after-event hooks, bindings and lookups. */
export const MAX_ATTEMPTS = 8;

const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 60 * 60 * 1_000;

/**
 * Returns the wait after a failed attempt, in milliseconds: 2 seconds, doubling up to 1 hour. `attempt` counts from 1.
 */
export function retryWaitMs(attempt: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}
