import type { Reference } from "../../runtime/cells/reference.js";
import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { RunConfig } from "../lines/fingerprint.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import { runRef as placedRunRef } from "../runners/runner.messages.js";
import type { RunNeeds } from "../runners/runner.table.js";
import type { ToolCall } from "../runners/tool-call.js";
import type { ApprovalRow } from "./approval.js";
import type { PullRequestReported, PushAllowed } from "./pull-request.messages.js";
import type { RunOutcome, StepRow } from "./run.js";
import type { RunBeginning } from "./run-input.table.js";
import type { RunOwnerKey } from "./run-owner.js";

/** From the owner: queues the run. */
export interface StartRun extends Message {
  readonly type: "run.start";
  readonly owner: RunOwnerKey;
  /** The address that the run sends its reports to. */
  readonly ownerAddress: Reference<OwnerMessage>;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly config: RunConfig;
  readonly beginning: RunBeginning;
  readonly fingerprint: string;
  readonly needs: RunNeeds;
  /** The dispatcher lane in which the run waits for a runner; absent for `work`. */
  readonly lane?: string;
}

/** From the edge: the claim's job cannot be sent to the runner. */
export interface JobUndeliverable extends Message {
  readonly type: "job.undeliverable";
  readonly fence: number;
  /** One sentence for a person. */
  readonly why: string;
}

/**
 * From the owner: ends the run with this outcome. If the outcome is `stopped` and the run is assigned, the runner stops
 * the run and reports.
 */
export interface EndRun extends Message {
  readonly type: "run.end";
  readonly outcome: "stopped" | "withdrawn" | "superseded";
  readonly reason: string;
}

/** From the run's owner, or from retention: removes an ended run with all its rows. */
export interface ForgetRun extends Message {
  readonly type: "run.forget";
}

/** From the edge: a person sends a message to the run. */
export interface SendMessage extends Answered<MessageSent | Refusal> {
  readonly type: "run.speak";
  readonly by: string;
  readonly text: string;
  /** Idempotency key. The run accepts each key of a person once. Null for no deduplication. */
  readonly key: string | null;
}
export interface MessageSent {
  readonly step: StepRow;
  /** Whether the message was sent before, under the same key. */
  readonly replayed: boolean;
}

/** From the edge: a person answers an approval of the run. */
export interface AnswerApproval extends Answered<ApprovalResult | Refusal>, Keyed {
  readonly type: "approval.answer";
  readonly by: string;
  readonly approvalId: string;
  readonly verdict: "approved" | "dismissed";
  /** JSON text of the inputs with which to call the tool instead of the requested inputs; null for no change. */
  readonly edited: string | null;
  /** The reason for the dismissal, if the person gives one. */
  readonly note: string | null;
}

export interface ApprovalResult {
  readonly approval: ApprovalRow;
  /** Whether the approval was answered before, under the same key. */
  readonly replayed: boolean;
}

/** From a tool call of the run: the call starts or stops waiting for a person. */
interface ToolCallWaits extends Message {
  readonly type: "call.waits";
}

/** From a tool call of the run, once: the call has ended. The run counts it. */
export interface ToolCallOver extends Message {
  readonly type: "call.over";
  readonly call: ToolCall;
  /**
   * Whether the call got the outcome of a recorded call. If so, its refusal does not increase `misses`; otherwise a
   * refusal does. Absent for no.
   */
  readonly isRecorded?: boolean;
}

/** To the owner: a sentence about what the run waits for; null if the run no longer waits. */
export interface RunAsking extends Message {
  readonly type: "run.asking";
  readonly runId: string;
  readonly asks: string | null;
}

/** To an owner with `hearsClaims`: a runner claimed the run. */
export interface RunClaimed extends Message {
  readonly type: "run.claimed";
  readonly runId: string;
}

/** To the owner, once: the run has ended. The results are in the run's rows. */
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
 * To the owner: a person's message that the run's agent did not get, or a notice about the run for people. An owner
 * adds the note once for each key. An owner without notes ignores it.
 */
interface CarryNote extends Message {
  readonly type: "note";
  /** `person <id>`, or `service`. */
  readonly from: string;
  readonly text: string;
  readonly key: string;
}

/** The messages that a run sends to every owner. An owner with `hearsClaims` also gets {@link RunClaimed}. */
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
  | PullRequestReported
>();
