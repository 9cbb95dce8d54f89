import type { GateAnswer, TurnReading, Woken } from "../../runtime/turn.js";
import { isRefusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import type { RunnerFeature } from "../runners/protocol.js";
import type { PullRequestWish } from "../runners/push.js";
import { approvals } from "./approval.table.js";
import { findAnswerable } from "./approvals.js";
import { findSentBefore, refuseMessage } from "./conversation.js";
import { offersTools } from "./frozen-tools.js";
import type { PullRequestTold } from "./pull-request.messages.js";
import type { AnswerApproval, SendMessage, StartRun } from "./run.messages.js";
import { getRunRow, STARTING } from "./run.transitions.js";
import { acceptedOutcome, type EndReport } from "./run-ending.js";
import type { Owned, PushReport, RunContext, RunEvent, RunMessage, RunReport } from "./run-events.js";
import { getRunOwner, type RunOwner } from "./run-owner.js";
import { findPush, isLastTold, PUSH, repositoriesToPush, whyNoPullRequest } from "./run-pushes.js";

/** A wake-up that is later than this, in milliseconds, was due while the service was down. */
const LATE_MS = 5_000;

interface RunState {
  readonly value: string;
  readonly context: RunContext;
}

/** The event of each message to a run; `owners` are the kinds that its owner may have. Reads only. */
export function classifyRun(owners: readonly RunOwner[]) {
  return (message: RunMessage, { value, context }: RunState, turn: TurnReading): RunEvent => {
    // Before its start a run has no row and takes no other message.
    if (message.type === "run.forget") return message;
    if (value === "new") return toFirstEvent(message, owners);
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
          : toReportEvent(message.said, { context, turn, owned });
      case "claim.lost":
        return message.runnerId === context.runnerId ? { ...message, ...owned() } : { type: "claim.other" };
      case "job.undeliverable":
        return message.fence === context.fence ? { ...message, ...owned() } : { type: "claim.other" };
      case "run.end":
        return message.outcome === "stopped" && context.assigned && value !== "ending"
          ? { type: "run.stop", reason: message.reason, ...owned() }
          : { ...message, ...owned() };
      case "woken":
        return toLateEvent(message, turn.now, owned);
      case "pull-request.allowed":
        return { type: "push.granted", allowed: message };
      case "pull-request.told":
        return toToldEvent(message, { value, context }, owned);
      case "run.speak":
        return toSpeechEvent(turn, context, message, owned().owner);
      case "approval.answer":
        return toApprovalEvent(turn, message, owned().owner);
      case "call.waits":
        return { ...message, ...owned() };
      // No transition takes a message of an unknown type.
      default:
        return message;
    }
  };
}

/** A message to a run that is not started, or was removed. */
function toFirstEvent(message: RunMessage, owners: readonly RunOwner[]): RunEvent {
  if (message.type === "run.start") return toStart(message, owners);
  return message.type === "run.claim"
    ? { type: "claim.orphaned", runnerId: message.runnerId }
    : { type: "claim.other" };
}

/** What the run needs of a runner depends on its job too. Throws when the kind of owner is unknown. */
function toStart(message: StartRun, owners: readonly RunOwner[]): RunEvent {
  const { brief } = getRunOwner(owners, message.owner.kind);
  const needed: RunnerFeature[] = [];
  if (brief === null) needed.push("taskless");
  if (message.beginning.replay !== undefined) needed.push("replays");
  if (message.beginning.search !== undefined) needed.push("search");
  if (message.beginning.checkouts.some(({ branch, merges }) => (branch ?? merges) !== undefined))
    needed.push("branches");
  if (offersTools(message.beginning)) needed.push("tools");
  if (message.beginning.push === true) needed.push("push");
  if (needed.length === 0) return message;
  const { features = [] } = message.needs;
  return { ...message, needs: { ...message.needs, features: [...new Set([...features, ...needed])] } };
}

function toGateEvent({ gate, id, refused }: GateAnswer, owned: () => Owned): RunEvent {
  if (gate !== STARTING) return { type: "handover.answered", id, refused };
  return refused === null ? { type: "start.agreed" } : { type: "start.refused", why: refused, ...owned() };
}

function toLateEvent({ name, dueMs }: Woken, nowMs: number, owned: () => Owned): RunEvent {
  const isLate = nowMs - dueMs > LATE_MS;
  if (name === PUSH) return isLate ? { type: "push.late" } : { type: "push.unanswered", ...owned() };
  return isLate ? { type: "stop.late" } : { type: "stop.unanswered", ...owned() };
}

function toToldEvent(told: PullRequestTold, { value, context }: RunState, owned: () => Owned): RunEvent {
  if (!context.pushes.some(({ pullRequestId }) => pullRequestId === told.pullRequestId)) return { type: "claim.other" };
  const isOver = value === "ending" && isLastTold(context, told);
  return { type: isOver ? "pushes.over" : "told.one", told, ...owned() };
}

/** What a report is classified by. */
interface ReportScope {
  readonly context: RunContext;
  readonly turn: TurnReading;
  readonly owned: () => Owned;
}

function toEndEvent(said: EndReport, { context, turn, owned }: ReportScope): RunEvent {
  const isWhole = said.outcome === "completed" && !context.stopping;
  const row = getRunRow(turn);
  const isAccepted = isWhole && acceptedOutcome(row, said).outcome === "completed";
  const repositories = isAccepted ? repositoriesToPush(turn, row, said) : [];
  // What the agent wished for is pushed, though it waits for no answer.
  const isHeld = repositories.length > 0 || (isAccepted && context.pushes.length > 0);
  return isHeld ? { ...said, type: "end.held", repositories } : { ...said, ...owned() };
}

function toWishEvent(said: PullRequestWish, { context, turn, owned }: ReportScope): RunEvent {
  const why = whyNoPullRequest(turn, context, said);
  return why === null ? { ...said, ...owned(), type: "wish.taken" } : { type: "wish.refused", id: said.id, why };
}

function toPushEvent(said: PushReport, { context }: ReportScope): RunEvent {
  const pending = findPush(context, said);
  return pending === undefined ? { type: "claim.other" } : { type: "push.reported", pending, said };
}

function toReportEvent(said: RunReport, scope: ReportScope): RunEvent {
  switch (said.type) {
    case "run.started":
    case "run.step":
    case "run.heard":
    case "run.tool-call":
    case "run.tool-cancelled":
      return said;
    case "run.permission":
    case "run.handover":
      return { ...said, ...scope.owned() };
    case "run.ended":
      return toEndEvent(said, scope);
    case "run.pull-request":
      return toWishEvent(said, scope);
    case "run.pushed":
    case "run.push-rejected":
      return toPushEvent(said, scope);
  }
}

function toSpeechEvent(turn: TurnReading, context: RunContext, message: SendMessage, owner: RunOwner): RunEvent {
  const before = findSentBefore(turn, message);
  const refusal = refuseMessage(turn, context, { ...message, before }, owner);
  return refusal === null ? { ...message, type: "message.taken", before } : { type: "message.refused", refusal };
}

function toApprovalEvent(turn: TurnReading, message: AnswerApproval, owner: RunOwner): RunEvent {
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return { type: "approval.refused", refusal: before };
  const repeated = before === null ? undefined : approvals.get(turn, turn.self.partition, turn.self.id, before);
  if (repeated !== undefined) return { type: "approval.repeated", approval: repeated };
  const found = findAnswerable(turn, message, owner);
  return isRefusal(found)
    ? { type: "approval.refused", refusal: found }
    : { ...message, type: "approval.answered", approval: found, owner };
}
