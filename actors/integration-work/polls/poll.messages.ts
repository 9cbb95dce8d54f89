import { reference } from "../../../runtime/cells/reference.js";
import type { Answered, EffectEnded, Message, Woken } from "../../../runtime/turns/turn.js";
import type { PollRow } from "../../integrations/poll.js";
import type { Refusal } from "../../refusal.js";
import type { Keyed } from "../../resources/repeated-request.js";

/** The integration's definition may have changed, or its workspace was closed. */
export interface CheckPoll extends Message {
  readonly type: "poll.check";
}

export interface PollAnswer {
  readonly poll: PollRow;
  /** Whether the service already accepted a message with the same idempotency key. */
  readonly replayed: boolean;
}

/** Polls now. If a request is already running, that request continues and no other request starts. */
export interface PollNow extends Answered<PollAnswer | Refusal>, Keyed {
  readonly type: "poll.now";
}

/** Sets the cursor. The response to a running request is still recorded, but does not change the cursor. */
export interface SetCursor extends Answered<PollAnswer | Refusal> {
  readonly type: "poll.cursor";
  readonly cursor: string;
}

/** The poll of an integration. The poll's id is the integration's id. */
export const pollRef = reference<CheckPoll | PollNow | SetCursor>("poll");

/** The messages to a poll's actor, including those of its effects and wake-up. */
export type PollMessage = CheckPoll | PollNow | SetCursor | EffectEnded | Woken;
