import type { GateAnswer, Message, Woken } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { ClaimLost, ClaimRun, RunSaid } from "../runners/runner.messages.js";
import type { ApprovalRow } from "./approval.js";
import type { StepRow } from "./run.js";
import type { AnswerApproval, EndRun, JobUndeliverable, SendMessage, StartRun } from "./run.messages.js";
import type { RunOwner } from "./run-owner.js";

/** What a run holds, what it is told, and what its machine takes: each message by what it means. */

/** Small on purpose: what is read of a run stands in its row. */
export interface RunContext {
  readonly fence: number;
  readonly runnerId: string | null;
  /** Whether the runner was given the run. */
  readonly assigned: boolean;
  readonly handover: PendingHandover | null;
  /** Messages that people said to it so far. */
  readonly said: number;
  /** Whether its runner was told to stop. */
  readonly stopping: boolean;
}

/** A handover that the gate has not answered yet. */
export interface PendingHandover {
  readonly id: string;
  readonly to: string;
  readonly question: string;
}

/** What a run is told. */
export type RunMessage =
  | StartRun
  | ClaimRun
  | RunSaid
  | ClaimLost
  | JobUndeliverable
  | EndRun
  | GateAnswer
  | SendMessage
  | AnswerApproval
  | Woken;

/** Who wants the run, where what follows depends on it. */
export interface Owned {
  readonly owner: RunOwner;
}

export type Said = RunSaid["said"];
type SaidOfType<Type extends Said["type"]> = Extract<Said, { readonly type: Type }>;

interface StartAgreed extends Message {
  readonly type: "start.agreed";
}
interface StartRefused extends Message, Owned {
  readonly type: "start.refused";
  readonly why: string;
}
/** The answer of the gate `handover.giving`. */
interface HandoverAnswered extends Message {
  readonly type: "handover.answered";
  /** The id of the question. */
  readonly id: string;
  readonly refused: string | null;
}
/** What a runner says of a claim that is not the run's, or not any more. */
export interface ClaimStale extends Message {
  readonly type: "claim.stale";
  readonly runnerId: string;
  readonly said: Said;
}
/** A person speaks to the run, and may. */
export interface SpeechTaken extends Omit<SendMessage, "type"> {
  readonly type: "speech.taken";
  /** What was said before under its key, or null. */
  readonly before: StepRow | null;
}
interface SpeechRefused extends Message {
  readonly type: "speech.refused";
  readonly refusal: Refusal;
}
/** A person answers what the run's agent wants leave for, and may. */
export interface ApprovalAnswered extends Omit<AnswerApproval, "type"> {
  readonly type: "approval.answered";
  readonly approval: ApprovalRow;
}
interface ApprovalRefused extends Message {
  readonly type: "approval.refused";
  readonly refusal: Refusal;
}
/** `run.end` with `stopped` of a run that its runner was given. */
interface StopRun extends Message {
  readonly type: "run.stop";
  readonly reason: string;
}
/** The runner did not end the run that it was told to stop. */
interface StopUnanswered extends Message, Owned {
  readonly type: "stop.unanswered";
}
/** The same, but the service was down when the runner's time was over. */
interface StopLate extends Message {
  readonly type: "stop.late";
}
/** What concerns another claim. No state takes it. */
interface ClaimOther extends Message {
  readonly type: "claim.other";
}

/** A message by where it leads, with what was read to find that out. */
export type RunEvent =
  | StartRun
  | (ClaimRun & Owned)
  | StartAgreed
  | StartRefused
  | HandoverAnswered
  | SaidOfType<"run.started" | "run.step" | "run.heard">
  | (SaidOfType<"run.permission"> & Owned)
  | (SaidOfType<"run.handover"> & Owned)
  | (SaidOfType<"run.ended"> & Owned)
  | ClaimStale
  | (ClaimLost & Owned)
  | (JobUndeliverable & Owned)
  | (EndRun & Owned)
  | StopRun
  | StopUnanswered
  | StopLate
  | SpeechTaken
  | SpeechRefused
  | ApprovalAnswered
  | ApprovalRefused
  | ClaimOther;
