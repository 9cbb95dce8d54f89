import { setImmediate as loopTurn, setTimeout as pause } from "node:timers/promises";

/** Time limit of a wait. It is much shorter than the time limit of a test file. */
const LIMIT_MS = 60_000;
/** Time during which `until` checks without pauses: most conditions hold within a few turns of the event loop. */
const EAGER_MS = 5;
/** Longest pause between later checks. Pauses grow with the time waited, so that other work gets the processor. */
const MOST_PAUSE_MS = 100;

/**
 * Waits until `holds` returns a value other than false, null and undefined, and returns that value. If the condition
 * has an event, await the event instead. On timeout, rejects with an error that contains `what`.
 */
export async function until<Found>(
  what: string,
  holds: () => Found | Promise<Found>,
): Promise<Exclude<Found, false | null | undefined>> {
  const begunMs = performance.now();
  for (;;) {
    const found = await holds();
    if (isSomething(found)) return found;
    const waitedMs = performance.now() - begunMs;
    if (waitedMs > LIMIT_MS) throw new Error(`waited in vain, for ${LIMIT_MS / 1_000} s: ${what}`);
    if (waitedMs < EAGER_MS) await loopTurn();
    else await pause(Math.min(waitedMs / 10, MOST_PAUSE_MS));
  }
}

function isSomething<Found>(found: Found): found is Exclude<Found, false | null | undefined> {
  return found !== false && found !== null && found !== undefined;
}
