import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import type { AnswerApproval, ApprovalResult } from "../runs/run.messages.js";
import { toolCallRef as placedToolCallRef } from "../runs/tool-call.messages.js";

/** A person answers the call's approval through the API. */
export interface AnswerCallApproval extends Answered<ApprovalResult | Refusal>, Omit<AnswerApproval, "type"> {
  readonly type: "call.answer";
  readonly runId: string;
}

/** The person whose own rule requires the approval has left the team. */
interface CallApproverLeft extends Message {
  readonly type: "call.approver-left";
  readonly runId: string;
}

/** The integration of the call was changed or deleted. */
interface CallToolChanged extends Message {
  readonly type: "call.tool-changed";
  readonly runId: string;
}

/** A tool call of a run, by its workspace and id. */
export const toolCallRef = placedToolCallRef.widen<AnswerCallApproval | CallApproverLeft | CallToolChanged>();
