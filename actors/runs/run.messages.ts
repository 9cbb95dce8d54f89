import type { Reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { RunConfig } from "../lines/fingerprint.js";
import type { Refusal } from "../refusal.js";
import { runRef as placedRunRef } from "../runners/runner.messages.js";
import type { RunNeeds } from "../runners/runner.table.js";
import type { ApprovalRow } from "./approval.js";
import type { RunOutcome, StepRow } from "./run.js";
import type { RunBeginning } from "./run-input.table.js";
import type { RunOwnerKey } from "./run-owner.js";

/** From whoever wants it: the run to queue. */
export interface StartRun extends Message {
  readonly type: "run.start";
  readonly owner: RunOwnerKey;
  /** Where it is told what becomes of the run. */
  readonly ownerAddress: Reference<OwnerMessage>;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
  readonly config: RunConfig;
  readonly beginning: RunBeginning;
  readonly fingerprint: string;
  readonly needs: RunNeeds;
  /** Where it waits for a runner; absent for `work`. */
  readonly lane?: string;
}

/** From the edge: the claim's job cannot be sent to any runner. */
export interface JobUndeliverable extends Message {
  readonly type: "job.undeliverable";
  readonly fence: number;
  /** One sentence for a person. */
  readonly why: string;
}

/** From its owner: end the run so, whatever it does. `stopped` lets the runner end it and report. */
export interface EndRun extends Message {
  readonly type: "run.end";
  readonly outcome: "stopped" | "withdrawn" | "superseded";
  readonly reason: string;
}

/** From the edge: a person speaks to the run. */
export interface SendMessage extends Answered<MessageSent | Refusal> {
  readonly type: "run.speak";
  readonly by: string;
  readonly text: string;
  /** Said once for each key of a person; null says it anew. */
  readonly key: string | null;
}
export interface MessageSent {
  readonly step: StepRow;
  /** Whether it was said before, under the same key. */
  readonly replayed: boolean;
}

/** From the edge: a person answers what the run's agent wants leave for. */
export interface AnswerApproval extends Answered<ApprovalRow | Refusal> {
  readonly type: "approval.answer";
  readonly by: string;
  readonly approvalId: string;
  readonly verdict: "approved" | "dismissed";
  /** What to make the call with in place of what was asked (JSON text); null for as it was asked. */
  readonly edited: string | null;
  /** Why it is dismissed, if the person says so. */
  readonly note: string | null;
}

/** To the owner: what the run waits for, in a sentence; null when it waits for nobody any more. */
export interface RunAsking extends Message {
  readonly type: "run.asking";
  readonly runId: string;
  readonly asks: string | null;
}

/** To the owner, once: the run is over; what it left is in its rows. */
export interface RunOver extends Message {
  readonly type: "run.over";
  readonly runId: string;
  readonly outcome: RunOutcome;
}

/** To the owner: the runner has begun. */
export interface RunBegan extends Message {
  readonly type: "run.began";
  readonly runId: string;
}

/** To an owner that has conversation: what a person said to the run and its agent was not given; once for each key. */
export interface CarryNote extends Message {
  readonly type: "note";
  /** `person <id>`. */
  readonly from: string;
  readonly text: string;
  readonly key: string;
}

/** What the owner of a run is told. */
export type OwnerMessage = RunBegan | RunAsking | RunOver | CarryNote;

/** A run of a workspace. */
export const runRef = placedRunRef.widen<StartRun | EndRun | JobUndeliverable | SendMessage | AnswerApproval>();
