import { setImmediate as loopTurn, setTimeout as pause } from "node:timers/promises";

/** Well within what a test file may take. */
const LIMIT_MS = 60_000;
/** Looks without a pause at first: most of what is awaited comes within a few turns of the event loop. */
const EAGER_MS = 50;
/** Longest pause between later looks; what is awaited has the processor to itself meanwhile. */
const MOST_PAUSE_MS = 30;

/**
 * Waits until `holds` gives something that is neither false nor nothing, and gives that. It is for what announces
 * itself to nobody: await the event where there is one. Rejects, saying `what` was awaited, when time is over.
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
