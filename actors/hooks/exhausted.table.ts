import type { Turn } from "../../runtime/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** Firings whose attempts were used up, over all workspaces, since the store was made. */
const exhausted = table<number>("hook-given-up");

/** One more. */
export function countExhausted(turn: Turn): void {
  exhausted.put(turn, GLOBAL_PARTITION, "total", getExhaustedCount(turn) + 1);
}

/** How many there were so far. */
export function getExhaustedCount(reading: Reading): number {
  return exhausted.get(reading, GLOBAL_PARTITION, "total") ?? 0;
}
