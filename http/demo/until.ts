import { setTimeout as pause } from "node:timers/promises";

/** Time limit for each wait of the demo, which takes a few seconds: a machine with much else to do needs minutes. */
const LIMIT_MS = 10 * 60_000;
const POLL_MS = 50;
const MINUTE_MS = 60_000;

/** The demo did not come out as it should; the message says which part of it, and how it stood. */
export class NotAsItShould extends Error {}

/**
 * Polls until `missing` resolves with null; what else it resolves with says how things stand ("it is running"). Rejects
 * with {@link NotAsItShould} when the time limit is over, which names `what` was waited for and how that stood at last;
 * and with the signal's reason.
 */
export async function until(
  what: string,
  missing: () => Promise<string | null>,
  signal: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<void> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    signal.throwIfAborted();
    const state = await missing();
    if (state === null) return;
    if (performance.now() >= endMs) {
      throw new NotAsItShould(`${what} within ${limitMs / MINUTE_MS} minutes: ${state}`);
    }
    await pause(POLL_MS);
  }
}

/** Returns what a part of the demo came to; throws {@link NotAsItShould}, which names the part, for null and false. */
export function asItShould<Result>(part: string, result: Result | null | false): Result {
  if (result !== null && result !== false) return result;
  throw new NotAsItShould(`${part}: this is not how it should have come out`);
}
