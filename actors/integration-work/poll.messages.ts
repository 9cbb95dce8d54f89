import { reference } from "../../runtime/reference.js";
import type { Answered, EffectEnded, Message, Woken } from "../../runtime/turn.js";
import type { PollRow } from "../integrations/poll.table.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";

/** The integration's definition may have changed, or its workspace was closed. */
export interface CheckPoll extends Message {
  readonly type: "poll.check";
}

export interface PollTold {
  readonly poll: PollRow;
  /** Whether the message was taken before, under the same key. */
  readonly replayed: boolean;
}

/** It is asked at once; one that is being asked goes on. */
export interface PollNow extends Answered<PollTold | Refusal>, Keyed {
  readonly type: "poll.now";
}

/** Sets the cursor. What is being asked under the one before is still recorded, and leaves the cursor. */
export interface SetCursor extends Answered<PollTold | Refusal> {
  readonly type: "poll.cursor";
  readonly cursor: string;
}

/** The poll of an integration; its id is the integration's. */
export const pollRef = reference<CheckPoll | PollNow | SetCursor>("poll");

/** What the actor of a poll is told, with what its effects and its wake-up tell it. */
export type PollMessage = CheckPoll | PollNow | SetCursor | EffectEnded | Woken;
