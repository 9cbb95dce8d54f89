import { setTimeout as pause } from "node:timers/promises";

/** Time limit for each part of the demo, which takes a few seconds. */
const LIMIT_MS = 120_000;
const POLL_MS = 50;

/** Polls until `holds`; false when the time limit is over. Rejects with the signal's reason. */
export async function until(holds: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  for (let waited = 0; waited < LIMIT_MS; waited += POLL_MS) {
    signal.throwIfAborted();
    if (await holds()) return true;
    await pause(POLL_MS);
  }
  return false;
}
