import type { Answered, GateAnswer, Message, Woken } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { ClaimLost, ClaimRun, RunReported } from "../runners/runner.messages.js";
import type { ApprovalRow } from "./approval.js";
import type { PullRequestTold, PushAllowed } from "./pull-request.messages.js";
import type { StepRow } from "./run.js";
import type {
  AnswerApproval,
  ApprovalTold,
  EndRun,
  ForgetRun,
  JobUndeliverable,
  SendMessage,
  StartRun,
  ToolCallOver,
  ToolCallWaits,
} from "./run.messages.js";
import type { RunOwner } from "./run-owner.js";

/** The context of a run, the messages it gets, and the events of its machine: what each message means. */

/** Small on purpose: readers of a run use its row. */
export interface RunContext {
  readonly fence: number;
  readonly runnerId: string | null;
  /** Whether the runner was given the run. */
  readonly assigned: boolean;
  readonly handover: PendingHandover | null;
  /** Number of messages that people sent to it so far. */
  readonly said: number;
  /** Whether its runner was told to stop. */
  readonly stopping: boolean;
  /** Pull requests that it asked and that have not told it what became of it. */
  readonly pushes: readonly PendingPush[];
  /** Repositories whose changes are pushed before it ends, and whose turn has not come. */
  readonly held: readonly string[];
  /** Why its agent's last wish in a repository was not met, by the repository; absent for none. */
  readonly unmet?: Readonly<Record<string, string>>;
  /**
   * Whether its agent has asked for leave or called a tool: before that it has neither approvals nor open calls. Absent in
   * runs of earlier releases, which may have.
   */
  readonly hasAsked?: boolean;
}

/** What a pull request was asked. */
export interface PendingPush {
  readonly repository: string;
  readonly pullRequestId: string;
  /** The id of the agent's wish; null at the end of the run. */
  readonly wish: string | null;
  /** The id of the push that the runner was given; null until it is allowed. */
  readonly push: string | null;
}

/** A handover that the gate has not answered yet. */
export interface PendingHandover {
  readonly id: string;
  readonly to: string;
  readonly question: string;
}

/** The messages that a run gets. */
export type RunMessage =
  | StartRun
  | ClaimRun
  | RunReported
  | ClaimLost
  | JobUndeliverable
  | EndRun
  | ForgetRun
  | GateAnswer
  | SendMessage
  | AnswerApproval
  | ToolCallWaits
  | ToolCallOver
  | PushAllowed
  | PullRequestTold
  | Woken;

/** The owner of the run, for events whose effect depends on it. */
export interface Owned {
  readonly owner: RunOwner;
}

export type RunReport = RunReported["said"];
type ReportOfType<Type extends RunReport["type"]> = Extract<RunReport, { readonly type: Type }>;

export type PushReport = ReportOfType<"run.pushed" | "run.push-rejected">;

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
/** The run was removed while a runner was found for it. */
interface ClaimOrphaned extends Message {
  readonly type: "claim.orphaned";
  readonly runnerId: string;
}
/** A runner's message about a claim that is not, or no longer, the run's. */
export interface ClaimStale extends Message {
  readonly type: "claim.stale";
  readonly runnerId: string;
  readonly said: RunReport;
}
/** A person sends a message to the run and is allowed to. */
export interface MessageTaken extends Omit<SendMessage, "type"> {
  readonly type: "message.taken";
  /** The earlier message with the same key, or null. */
  readonly before: StepRow | null;
}
interface MessageRefused extends Answered<Refusal> {
  readonly type: "message.refused";
  readonly refusal: Refusal;
}
/** A person answers an approval of the run and is allowed to. */
export interface ApprovalAnswered extends Omit<AnswerApproval, "type">, Owned {
  readonly type: "approval.answered";
  readonly approval: ApprovalRow;
}
/** An answer that was taken before, under the same key. */
interface ApprovalRepeated extends Answered<ApprovalTold> {
  readonly type: "approval.repeated";
  readonly approval: ApprovalRow;
}
interface ApprovalRefused extends Answered<Refusal> {
  readonly type: "approval.refused";
  readonly refusal: Refusal;
}
/** `run.end` with `stopped`, for a run that is assigned to a runner. */
interface StopRun extends Message, Owned {
  readonly type: "run.stop";
  readonly reason: string;
}
/** The runner was told to stop the run and did not report its end in time. */
interface StopUnanswered extends Message, Owned {
  readonly type: "stop.unanswered";
}
/** The same, but the service was down when the time was over. */
interface StopLate extends Message {
  readonly type: "stop.late";
}
/** The agent's work is over, and something of it is pushed before the run ends. */
export interface EndHeld extends Omit<ReportOfType<"run.ended">, "type"> {
  readonly type: "end.held";
  /** The repositories with changes to push. */
  readonly repositories: readonly string[];
}
/** The agent wants a pull request that cannot be asked for. */
interface WishRefused extends Message {
  readonly type: "wish.refused";
  /** The id of the wish. */
  readonly id: string;
  readonly why: string;
}
/** The agent wants a pull request, of this one. */
export interface WishTaken extends Omit<ReportOfType<"run.pull-request">, "type">, Owned {
  readonly type: "wish.taken";
}
/** The runner says what became of a push that it was given. */
export interface PushReported extends Message {
  readonly type: "push.reported";
  readonly pending: PendingPush;
  readonly said: PushReport;
}
/** A pull request that the run asked allows it to push. */
interface PushGranted extends Message {
  readonly type: "push.granted";
  readonly allowed: PushAllowed;
}
/** The last pull request that an ended run waits for has told it what became of it. */
interface PushesOver extends Owned, Message {
  readonly type: "pushes.over";
  readonly told: PullRequestTold;
}
interface ToldOne extends Owned, Message {
  readonly type: "told.one";
  readonly told: PullRequestTold;
}
/** The runner did not say in time what became of a push. */
interface PushUnanswered extends Owned, Message {
  readonly type: "push.unanswered";
}
/** The same, but the service was down when the time was over. */
interface PushLate extends Message {
  readonly type: "push.late";
}
/** A message about another claim. No state takes it. */
interface ClaimOther extends Message {
  readonly type: "claim.other";
}

/** A message classified by its effect, with what was read to classify it. */
export type RunEvent =
  | StartRun
  | (ClaimRun & Owned)
  | StartAgreed
  | StartRefused
  | HandoverAnswered
  | ReportOfType<"run.started" | "run.step" | "run.heard">
  | (ReportOfType<"run.permission"> & Owned)
  | (ReportOfType<"run.handover"> & Owned)
  | (ReportOfType<"run.ended"> & Owned)
  | ReportOfType<"run.tool-call" | "run.tool-cancelled">
  | (ToolCallWaits & Owned)
  | ToolCallOver
  | ClaimOrphaned
  | ClaimStale
  | (ClaimLost & Owned)
  | (JobUndeliverable & Owned)
  | (EndRun & Owned)
  | ForgetRun
  | StopRun
  | StopUnanswered
  | StopLate
  | MessageTaken
  | MessageRefused
  | ApprovalAnswered
  | ApprovalRepeated
  | ApprovalRefused
  | EndHeld
  | WishRefused
  | WishTaken
  | PushReported
  | PushGranted
  | PushesOver
  | ToldOne
  | PushUnanswered
  | PushLate
  | ClaimOther;
