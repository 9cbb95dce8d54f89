import type { Answered, EffectEnded, GateAnswer, Message, Woken } from "../../runtime/turn.js";
import type { IntegrationRequestResult } from "../integrations/requests/integration-request.js";
import type { Refusal } from "../refusal.js";
import type { ApprovalRow, ApprovalRule } from "../runs/approval.js";
import type { FrozenTool } from "../runs/frozen-tools.js";
import type { ApprovalTold } from "../runs/run.messages.js";
import type { RunOwner } from "../runs/run-owner.js";
import type { AskToolCall, CancelToolCall, ToolCallRunOver } from "../runs/tool-call.messages.js";
import type { RecordedCall, ToolCallCode, ToolCallRow } from "./tool-call.js";
import type { AnswerCallApproval, CallApproverLeft, CallToolChanged } from "./tool-call.messages.js";

/** The context of a call, the messages it gets, and the events of its machine: what each message means. */

/** Small on purpose: what a call is stands in its row. */
export interface ToolCallContext {
  readonly runId: string;
  /** The runner that waits for the outcome, and its claim. */
  readonly runnerId: string;
  readonly fence: number;
  /** How often hooks were asked: once, and again after each edit. */
  readonly vettings: number;
  /** Whether a person has given leave; hooks are asked once more then, nobody else. */
  readonly approved: boolean;
  /** Whether its run has ended, so that nobody waits for the outcome. */
  readonly runEnded: boolean;
}

/** The messages that a call gets. */
export type ToolCallMessage =
  | AskToolCall
  | CancelToolCall
  | ToolCallRunOver
  | AnswerCallApproval
  | CallApproverLeft
  | CallToolChanged
  | GateAnswer
  | EffectEnded
  | Woken;

/** Why a call is not made: nothing was sent. */
export interface CallProblem {
  readonly code: ToolCallCode;
  /** One sentence for the agent and for people. */
  readonly message: string;
}

/** An approval that a call needs. */
export interface WantedApproval {
  readonly rule: ApprovalRule;
  /** Who may give it as things are: the person of the rule, or the task's assignee; null for nobody. */
  readonly approver: string | null;
}

/** What the request of a call is made from. */
export interface CallRequest {
  readonly action: string;
  readonly method: string;
  /** Of the action and its request as they are defined. */
  readonly digest: string;
}

interface Owned {
  readonly owner: RunOwner;
}

/** An agent's call whose inputs fit. */
export interface AskTaken extends Message, Owned {
  readonly type: "ask.taken";
  readonly ask: AskToolCall;
  readonly tool: FrozenTool;
  /** JSON text of the inputs, with defaults. */
  readonly inputs: string;
  /** Whose rule asks for approval, fixed now; null for none. */
  readonly rule: ToolCallRow["rule"];
  readonly actsAs: string;
}

/** An agent's call that is not made. */
export interface AskFailed extends Message, CallProblem {
  readonly type: "ask.failed";
  readonly ask: AskToolCall;
  /** Undefined where the run has no such tool. */
  readonly tool: FrozenTool | undefined;
  readonly actsAs: string;
}

/** A call that is not taken at all: its run has made too many. */
export interface AskRefused extends Message {
  readonly type: "ask.refused";
  readonly ask: AskToolCall;
  /** One sentence for the agent. */
  readonly why: string;
}

/** The same call as one that is open. */
export interface AskRepeated extends Message {
  readonly type: "ask.repeated";
  readonly ask: AskToolCall;
  /** The open one. */
  readonly call: ToolCallRow;
}

/** A call of a run that repeats another: answered as there, and not made. */
export interface AskRecorded extends Message {
  readonly type: "ask.recorded";
  readonly ask: AskToolCall;
  /** The call whose answer it gets; undefined when that run made no such call. */
  readonly recorded: RecordedCall | undefined;
}

/** A call of a run that has ended meanwhile. */
interface AskLate extends Message {
  readonly type: "ask.late";
  readonly ask: AskToolCall;
}

/** An ask is cancelled that another call answers. */
export interface CancelElsewhere extends Omit<CancelToolCall, "type"> {
  readonly type: "cancel.elsewhere";
  readonly callId: string;
}

/** Nobody waits for the call any more (`last`), or somebody else still does. */
export interface CancelTaken extends Omit<CancelToolCall, "type"> {
  readonly type: "cancel.last" | "cancel.one";
}

interface GateRefused extends Message {
  readonly type: "gate.refused";
  readonly why: string;
}
/** Hooks have no objection, and somebody has to approve. */
export interface GateWaits extends Message, WantedApproval, Owned, Pick<CallRequest, "digest"> {
  readonly type: "gate.waits";
}
/** Nothing stands between the call and its request. */
export interface MayBegin extends Message, CallRequest, Owned {
  readonly type: "gate.agreed";
}
/** The call may no longer be made: the tool or the person is gone. */
interface GateUnusable extends Message, CallProblem {
  readonly type: "gate.unusable";
}

/** A person answers the approval and may. */
export interface Answering extends Omit<AnswerCallApproval, "type"> {
  readonly approval: ApprovalRow;
}
export interface Approved extends Answering, CallRequest, Owned {
  readonly type: "answer.approved";
}
/** Approved, but the call may no longer be made. */
export interface ApprovedInVain extends Answering, CallProblem {
  readonly type: "answer.in-vain";
}
export interface Edited extends Answering, Owned {
  readonly type: "answer.edited";
  /** JSON text of the new inputs, with defaults. */
  readonly inputs: string;
}
export interface Dismissed extends Answering {
  readonly type: "answer.dismissed";
}
/** An answer that was taken before, under the same key. */
interface AnswerRepeated extends Answered<ApprovalTold> {
  readonly type: "answer.repeated";
  readonly approval: ApprovalRow;
}
interface AnswerRefused extends Answered<Refusal> {
  readonly type: "answer.refused";
  readonly refusal: Refusal;
}

/** The only person who may answer the approval is no longer on the team. */
export interface ApproverGone extends Message, CallProblem {
  readonly type: "approver.gone";
}

/** The tool of a call that waits for approval is no longer offered. */
export interface ToolGone extends Message, CallProblem {
  readonly type: "tool.gone";
}

/** The request was answered, or failed. */
export interface RequestEnded extends Message, Owned {
  readonly type: "request.done" | "request.failed";
  readonly result: IntegrationRequestResult;
}

/** The request of a call ended that was removed with its run. */
interface RequestOfNothing extends Message {
  readonly type: "request.of-nothing";
}

/** A message that changes nothing. No state takes it. */
interface Nothing extends Message {
  readonly type: "call.other";
}

/** A message classified by its effect, with what was read to classify it. */
export type ToolCallEvent =
  | AskTaken
  | AskFailed
  | AskRefused
  | AskRepeated
  | AskRecorded
  | AskLate
  | CancelElsewhere
  | CancelTaken
  | ToolCallRunOver
  | GateRefused
  | GateWaits
  | MayBegin
  | GateUnusable
  | Approved
  | ApprovedInVain
  | Edited
  | Dismissed
  | AnswerRepeated
  | AnswerRefused
  | ApproverGone
  | ToolGone
  | RequestEnded
  | RequestOfNothing
  | Woken
  | Nothing;
