import type { Turn } from "../../runtime/turn.js";
import { type ForgetReplay, replayRef } from "./replay.messages.js";
import { replays } from "./replay.table.js";

/** Replays that are told in one turn. */
const REPLAYS_AT_ONCE = 50;
/** Names of the wake-ups at which further ones are told: this, and the id of the set. */
const FORGET = "forget ";

/** The replays of a set that was removed go too: some are told now, the others in later turns. */
export function forgetReplays(turn: Turn, setId: string): void {
  const { partition } = turn.self;
  const left = replays.all(turn, partition, { setId }, { limit: REPLAYS_AT_ONCE });
  const message: ForgetReplay = { type: "replay.forget" };
  for (const { id } of left) turn.send(replayRef(partition, id), message);
  if (left.length > 0) turn.wake(`${FORGET}${setId}`, turn.now);
}

/** The set whose replays are told at a wake-up of this name; null for another. */
export function toRemovedSet(name: string): string | null {
  return name.startsWith(FORGET) ? name.slice(FORGET.length) : null;
}
