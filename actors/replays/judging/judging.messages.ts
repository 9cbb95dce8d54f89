import type { Message } from "../../../runtime/turn.js";
import { replayRef } from "../replay.messages.js";

/** To a replay that finished: the replay that it is paired with has ended. */
export interface CounterpartEnded extends Message {
  readonly type: "counterpart.ended";
}

/** A replay whose judging waits for another. */
export const judgedReplayRef = replayRef.widen<CounterpartEnded>();
