import type { Turn } from "../../runtime/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** Firings whose attempts were used up, over all workspaces, since the store was made. */
const givenUp = table<number>("hook-given-up");

/** One more. */
export function countGivenUp(turn: Turn): void {
  givenUp.put(turn, GLOBAL_PARTITION, "total", firingsGivenUp(turn) + 1);
}

/** How many there were so far. */
export function firingsGivenUp(reading: Reading): number {
  return givenUp.get(reading, GLOBAL_PARTITION, "total") ?? 0;
}
