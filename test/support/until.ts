import { setImmediate as loopTurn, setTimeout as pause } from "node:timers/promises";

export interface UntilOptions {
  /** How long it may take before the test is failed, in milliseconds; well within tap's limit for a file. */
  readonly limitMs?: number;
}

const LIMIT_MS = 60_000;
/** Looks without a pause: most of what is awaited comes within a few turns of the event loop. */
const EAGER_LOOKS = 200;
/** Pause between later looks, in milliseconds, so that what is awaited has the processor to itself. */
const PAUSE_MS = 5;

/**
 * Waits until `holds` gives something true, and gives that. For states that announce themselves to nobody; await the
 * event where there is one. Rejects, naming `what` was awaited, when it does not come about in time.
 */
export async function until<Found>(
  what: string,
  holds: () => Found | Promise<Found>,
  { limitMs = LIMIT_MS }: UntilOptions = {},
): Promise<NonNullable<Found>> {
  const endMs = performance.now() + limitMs;
  for (let looks = 0; ; looks++) {
    const found = await holds();
    if (found) return found;
    if (performance.now() > endMs) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    if (looks < EAGER_LOOKS) await loopTurn();
    else await pause(PAUSE_MS);
  }
}
