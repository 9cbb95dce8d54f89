import type { Turn } from "../../../runtime/turns/turn.js";
import { type ForgetReplay, replayRef } from "../replay/replay.messages.js";
import { replays } from "../replay/replay.table.js";

/** Maximum number of replays that one turn tells to remove themselves. */
const REPLAYS_AT_ONCE = 50;
/** Prefix of the wake-ups for the remaining replays; the set's id follows. */
const FORGET = "forget ";

/** Removes the replays of a removed set: some now, the others in later turns. */
export function forgetReplays(turn: Turn, setId: string): void {
  const { partition } = turn.self;
  const left = replays.all(turn, partition, { setId }, { limit: REPLAYS_AT_ONCE });
  const message: ForgetReplay = { type: "replay.forget" };
  for (const { id } of left) turn.send(replayRef(partition, id), message);
  if (left.length > 0) turn.wake(`${FORGET}${setId}`, turn.now);
}

/** Returns the id of the removed set that a wake-up of this name is for; null for other names. */
export function toRemovedSet(name: string): string | null {
  return name.startsWith(FORGET) ? name.slice(FORGET.length) : null;
}
