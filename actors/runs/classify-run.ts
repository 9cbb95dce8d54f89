import type { GateAnswer, Message, TurnReading, Woken } from "../../runtime/turn.js";
import { isRefusal, type Refusal } from "../refusal.js";
import type { ClaimLost, ClaimRun, RunSaid } from "../runners/runner.messages.js";
import type { ApprovalRow } from "./approval.table.js";
import { findAnswerable } from "./approvals.js";
import { findSentBefore, refuseMessage } from "./conversation.js";
import type { RunContext } from "./run.machine.js";
import type { AnswerApproval, EndRun, JobUndeliverable, SendMessage, StartRun } from "./run.messages.js";
import type { StepRow } from "./run.table.js";
import { getRunRow, STARTING } from "./run.transitions.js";
import { getRunOwner, type RunOwner } from "./run-owner.js";

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
interface Owned {
  readonly owner: RunOwner;
}

type Said = RunSaid["said"];
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

/** A wake-up that comes later than this was due while the service was down, in milliseconds. */
const LATE_MS = 5_000;

interface RunState {
  readonly value: string;
  readonly context: RunContext;
}

/** Gives the event of each message to a run whose owners are among these. It reads and does nothing else. */
export function classifyRun(owners: readonly RunOwner[]) {
  return (message: RunMessage, { value, context }: RunState, turn: TurnReading): RunEvent => {
    // Before its start a run has no row to read, and takes nothing else.
    if (value === "new") return message.type === "run.start" ? message : { type: "claim.other" };
    const owned = (): Owned => ({ owner: getRunOwner(owners, getRunRow(turn).owner.kind) });
    switch (message.type) {
      case "run.start":
        return message;
      case "run.claim":
        return { ...message, ...owned() };
      case "gate.answered":
        return toGateEvent(message, owned);
      case "run.said":
        return value === "ended" || message.said.fence !== context.fence || message.runnerId !== context.runnerId
          ? { ...message, type: "claim.stale" }
          : toSaidEvent(message.said, owned);
      case "claim.lost":
        return message.runnerId === context.runnerId ? { ...message, ...owned() } : { type: "claim.other" };
      case "job.undeliverable":
        return message.fence === context.fence ? { ...message, ...owned() } : { type: "claim.other" };
      case "run.end":
        return message.outcome === "stopped" && context.assigned
          ? { type: "run.stop", reason: message.reason }
          : { ...message, ...owned() };
      case "woken":
        return turn.now - message.dueMs > LATE_MS ? { type: "stop.late" } : { type: "stop.unanswered", ...owned() };
      case "run.speak":
        return toSpeechEvent(turn, context, message, owned().owner);
      case "approval.answer":
        return toApprovalEvent(turn, message, owned().owner);
    }
  };
}

function toGateEvent({ gate, id, refused }: GateAnswer, owned: () => Owned): RunEvent {
  if (gate !== STARTING) return { type: "handover.answered", id, refused };
  return refused === null ? { type: "start.agreed" } : { type: "start.refused", why: refused, ...owned() };
}

function toSaidEvent(said: Said, owned: () => Owned): RunEvent {
  switch (said.type) {
    case "run.started":
    case "run.step":
    case "run.heard":
      return said;
    case "run.permission":
    case "run.handover":
    case "run.ended":
      return { ...said, ...owned() };
  }
}

function toSpeechEvent(turn: TurnReading, context: RunContext, message: SendMessage, owner: RunOwner): RunEvent {
  const before = findSentBefore(turn, message);
  const refusal = refuseMessage(turn, context, { ...message, before }, owner);
  return refusal === null ? { ...message, type: "speech.taken", before } : { type: "speech.refused", refusal };
}

function toApprovalEvent(turn: TurnReading, message: AnswerApproval, owner: RunOwner): RunEvent {
  const found = findAnswerable(turn, message, owner);
  return isRefusal(found)
    ? { type: "approval.refused", refusal: found }
    : { ...message, type: "approval.answered", approval: found };
}
