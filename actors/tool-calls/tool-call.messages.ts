import type { Answered, Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { AnswerApproval, ApprovalTold } from "../runs/run.messages.js";
import { toolCallRef as placedToolCallRef } from "../runs/tool-call.messages.js";

/** From another call: an agent asked for the same again, while this one was open. */
export interface AttachAsk extends Message {
  readonly type: "call.attach";
  readonly runId: string;
  readonly runnerId: string;
  readonly fence: number;
  readonly askId: string;
}

/** From the edge: a person answers the approval of the call. */
export interface AnswerCallApproval extends Answered<ApprovalTold | Refusal>, Omit<AnswerApproval, "type"> {
  readonly type: "call.answer";
  readonly runId: string;
}

/** A call of a run's tool, by its workspace and id. */
export const toolCallRef = placedToolCallRef.widen<AttachAsk | AnswerCallApproval>();
