import type { Reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { RunConfig } from "../lines/fingerprint.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import { runRef as placedRunRef } from "../runners/runner.messages.js";
import type { RunNeeds } from "../runners/runner.table.js";
import type { ToolCall } from "../runners/tool-call.js";
import type { ApprovalRow } from "./approval.js";
import type { PullRequestTold, PushAllowed } from "./pull-request.messages.js";
import type { RunOutcome, StepRow } from "./run.js";
import type { RunBeginning } from "./run-input.table.js";
import type { RunOwnerKey } from "./run-owner.js";

/** From the owner: queues the run. */
export interface StartRun extends Message {
  readonly type: "run.start";
  readonly owner: RunOwnerKey;
  /** Where the run sends its reports. */
  readonly ownerAddress: Reference<OwnerMessage>;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly config: RunConfig;
  readonly beginning: RunBeginning;
  readonly fingerprint: string;
  readonly needs: RunNeeds;
  /** The lane in which the run waits for a runner; absent for `work`. */
  readonly lane?: string;
}

/** From the edge: the claim's job cannot be sent to any runner. */
export interface JobUndeliverable extends Message {
  readonly type: "job.undeliverable";
  readonly fence: number;
  /** One sentence for a person. */
  readonly why: string;
}

/** From the owner: ends the run with this outcome, in any state. `stopped` lets the runner end it and report. */
export interface EndRun extends Message {
  readonly type: "run.end";
  readonly outcome: "stopped" | "withdrawn" | "superseded";
  readonly reason: string;
}

/** From its owner, or from retention: an ended run is removed, with all that belongs to it. */
export interface ForgetRun extends Message {
  readonly type: "run.forget";
}

/** From the edge: a person sends a message to the run. */
export interface SendMessage extends Answered<MessageSent | Refusal> {
  readonly type: "run.speak";
  readonly by: string;
  readonly text: string;
  /** Idempotency key: a person's message is accepted once for each key; with null each time. */
  readonly key: string | null;
}
export interface MessageSent {
  readonly step: StepRow;
  /** Whether the message was sent before, under the same key. */
  readonly replayed: boolean;
}

/** From the edge: a person answers an approval of the run. */
export interface AnswerApproval extends Answered<ApprovalTold | Refusal>, Keyed {
  readonly type: "approval.answer";
  readonly by: string;
  readonly approvalId: string;
  readonly verdict: "approved" | "dismissed";
  /** The inputs to call the tool with instead of those asked for (JSON text); null for no change. */
  readonly edited: string | null;
  /** Why it is dismissed, if the person gives a reason. */
  readonly note: string | null;
}

export interface ApprovalTold {
  readonly approval: ApprovalRow;
  /** Whether it was answered before, under the same key. */
  readonly replayed: boolean;
}

/** From a call of its tool: it begins to wait for a person, or waits no longer. */
interface ToolCallWaits extends Message {
  readonly type: "call.waits";
}

/** From a call of its tool, once: the call is over; what it says of the call is counted. */
export interface ToolCallOver extends Message {
  readonly type: "call.over";
  readonly call: ToolCall;
  /** Whether it was answered as a recorded one: that it was refused then is no miss. Absent for no. */
  readonly isRecorded?: boolean;
}

/** To the owner: what the run waits for, in a sentence; null when it does not wait any more. */
export interface RunAsking extends Message {
  readonly type: "run.asking";
  readonly runId: string;
  readonly asks: string | null;
}

/** To an owner that hears of claims: a runner took the run. */
export interface RunClaimed extends Message {
  readonly type: "run.claimed";
  readonly runId: string;
}

/** To the owner, once: the run is over; its results are in its rows. */
export interface RunOver extends Message {
  readonly type: "run.over";
  readonly runId: string;
  readonly outcome: RunOutcome;
}

/** To the owner: the runner has started the run. */
export interface RunBegan extends Message {
  readonly type: "run.began";
  readonly runId: string;
}

/**
 * To the owner: a person's message that the run's agent did not get, or what people should know of the run; once for each
 * key. An owner without notes ignores it.
 */
interface CarryNote extends Message {
  readonly type: "note";
  /** `person <id>`, or `service`. */
  readonly from: string;
  readonly text: string;
  readonly key: string;
}

/** The messages that a run sends to its owner. */
export type OwnerMessage = RunBegan | RunAsking | RunOver | CarryNote;

/** A run of a workspace. */
export const runRef = placedRunRef.widen<
  | StartRun
  | EndRun
  | JobUndeliverable
  | SendMessage
  | AnswerApproval
  | ForgetRun
  | ToolCallWaits
  | ToolCallOver
  | PushAllowed
  | PullRequestTold
>();
