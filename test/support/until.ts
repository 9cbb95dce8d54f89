import { setImmediate as loopTurn, setTimeout as pause } from "node:timers/promises";

/** Much shorter than the time limit of a test file. */
const LIMIT_MS = 60_000;
/** Checks without a pause at first: most conditions hold within a few turns of the event loop. */
const EAGER_MS = 50;
/** Longest pause between later checks, in which other work has the processor. */
const MOST_PAUSE_MS = 30;

/**
 * Waits until `holds` returns a value other than false, null and undefined, and returns it. For conditions without an
 * event: await the event if there is one. Rejects with `what` in the message when the time is over.
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
