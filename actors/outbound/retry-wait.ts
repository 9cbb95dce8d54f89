/** Total attempts of what is sent again until it arrives: hooks on after events, bindings, look-ups. */
export const MAX_ATTEMPTS = 8;

const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 60 * 60 * 1_000;

/** The wait before the attempt after this one, in milliseconds: 2 seconds, doubling up to 1 hour. */
export function retryWaitMs(attempt: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}
