import { setTimeout as pause } from "node:timers/promises";
import { progress } from "./progress.js";

/**
 * Time limit for each wait of the demo, in milliseconds. A wait normally takes a few seconds, but minutes on a busy
 * machine.
 */
const LIMIT_MS = 10 * 60_000;
const POLL_MS = 100;
const MINUTE_MS = 60_000;

/** An unexpected result of the demo; the message names the part. */
export class NotAsItShould extends Error {}

/**
 * Polls until `missing` resolves with null. Until then, `missing` must resolve with a text about the current state ("it
 * is running"), which is printed every second while nothing else is printed. On timeout, rejects with {@link
 * NotAsItShould}, which names `what` and the last state. On abort, rejects with the signal's reason.
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
    progress.set(what, state);
    if (performance.now() >= endMs) {
      throw new NotAsItShould(`${what}: not done after ${limitMs / MINUTE_MS} minutes: ${state}`);
    }
    await pause(POLL_MS);
  }
}

/** Returns the result of a part of the demo. For null and false, throws {@link NotAsItShould}, which names the part. */
export function asItShould<Result>(part: string, result: Result | null | false): Result {
  if (result !== null && result !== false) return result;
  throw new NotAsItShould(`${part}: the result is not as expected`);
}
