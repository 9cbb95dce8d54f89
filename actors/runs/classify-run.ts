import { toEvent } from "../../runtime/cells/chart.js";
import type { MessageTo } from "../../runtime/cells/reference.js";
import type { GateAnswer, TurnReading, Woken } from "../../runtime/turns/turn.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import type { RunnerFeature } from "../runners/protocol.js";
import type { PullRequestWish } from "../runners/push.js";
import type { RunReported } from "../runners/runner.messages.js";
import { approvals } from "./approval.table.js";
import { findAnswerable } from "./approvals.js";
import { findSentBefore, refuseMessage } from "./conversation.js";
import { offersTools } from "./frozen-tools.js";
import type { PullRequestReported } from "./pull-request.messages.js";
import type { RunContext } from "./run.js";
import type { AnswerApproval, runRef, SendMessage, StartRun } from "./run.messages.js";
import { getRunRow, STARTING } from "./run.transitions.js";
import { acceptedOutcome, type EndReport } from "./run-ending.js";
import { getRunOwner, type RunOwner } from "./run-owner.js";
import { findPush, isLastResult, PUSH, type PushReport, repositoriesToPush, whyNoPullRequest } from "./run-pushes.js";

/**
 * A wake-up that arrives more than this many milliseconds after its due time is late. The service was down at the due
 * time.
 */
const LATE_MS = 5_000;

type RunMessage = MessageTo<ReturnType<typeof runRef>> | GateAnswer | Woken;

/** The owner of the run, for events whose transition depends on it. */
interface Owned {
  readonly owner: RunOwner;
}

/** The event of a message without effect, for example a message about another claim. No state handles this event. */
const OTHER = toEvent("claim.other");

interface RunState {
  readonly value: string;
  readonly context: RunContext;
}

/** Returns the classifier of a run's messages. `owners` is the catalogue of owner kinds. Reads only. */
export function classifyRun(owners: readonly RunOwner[]) {
  return (message: RunMessage, { value, context }: RunState, turn: TurnReading) => {
    // A run that has not started has no row. Only `run.forget` and messages that start the run are possible.
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
          ? toEvent("claim.stale", message)
          : toReportEvent(message.said, { context, turn, owned });
      case "claim.lost":
        return message.runnerId === context.runnerId ? { ...message, ...owned() } : OTHER;
      case "job.undeliverable":
        return message.fence === context.fence ? { ...message, ...owned() } : OTHER;
      case "run.end":
        return message.outcome === "stopped" && context.assigned && value !== "ending"
          ? toEvent("run.stop", { reason: message.reason, ...owned() })
          : { ...message, ...owned() };
      case "woken":
        return toLateEvent(message, turn.now, owned);
      case "pull-request.allowed":
        return toEvent("push.granted", { allowed: message });
      case "pull-request.told":
        return toPushResultEvent(message, { value, context }, owned);
      case "run.speak":
        return toSpeechEvent(turn, context, message, owned().owner);
      case "approval.answer":
        return toApprovalEvent(turn, message, owned().owner);
      case "call.waits":
        return { ...message, ...owned() };
      // This case covers `call.over`, and messages of unknown types, which no transition handles.
      default:
        return message;
    }
  };
}

/** Classifies a message to a run that has not started or was removed. */
function toFirstEvent(message: RunMessage, owners: readonly RunOwner[]) {
  if (message.type === "run.start") return toStart(message, owners);
  return message.type === "run.claim" ? toEvent("claim.orphaned", { runnerId: message.runnerId }) : OTHER;
}

/**
 * Adds the runner features that the run's job needs to the message. Throws if the catalogue lacks the kind of the run's
 * owner.
 */
function toStart(message: StartRun, owners: readonly RunOwner[]) {
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

function toGateEvent({ gate, id, refused }: GateAnswer, owned: () => Owned) {
  if (gate !== STARTING) return toEvent("handover.answered", { id, refused });
  return refused === null ? toEvent("start.agreed") : toEvent("start.refused", { why: refused, ...owned() });
}

function toLateEvent({ name, dueMs }: Woken, nowMs: number, owned: () => Owned) {
  const isLate = nowMs - dueMs > LATE_MS;
  if (name === PUSH) return isLate ? toEvent("push.late") : toEvent("push.unanswered", owned());
  return isLate ? toEvent("stop.late") : toEvent("stop.unanswered", owned());
}

function toPushResultEvent(told: PullRequestReported, { value, context }: RunState, owned: () => Owned) {
  if (!context.pushes.some(({ pullRequestId }) => pullRequestId === told.pullRequestId)) return OTHER;
  const isOver = value === "ending" && isLastResult(context, told);
  return toEvent(isOver ? "pushes.over" : "told.one", { told, ...owned() });
}

/** The data that the classification of a report reads. */
interface ReportScope {
  readonly context: RunContext;
  readonly turn: TurnReading;
  readonly owned: () => Owned;
}

function toEndEvent(report: EndReport, { context, turn, owned }: ReportScope) {
  const isWhole = report.outcome === "completed" && !context.stopping;
  const row = getRunRow(turn);
  const isAccepted = isWhole && acceptedOutcome(row, report).outcome === "completed";
  const repositories = isAccepted ? repositoriesToPush(turn, row, report) : [];
  // The run's end also waits for pushes that the agent asked for and that have no result yet.
  const isWaiting = repositories.length > 0 || (isAccepted && context.pushes.length > 0);
  return isWaiting ? toEvent("end.held", { ...report, repositories }) : { ...report, ...owned() };
}

function toWishEvent(report: PullRequestWish, { context, turn, owned }: ReportScope) {
  const why = whyNoPullRequest(turn, context, report);
  return why === null
    ? toEvent("wish.taken", { ...report, ...owned() })
    : toEvent("wish.refused", { id: report.id, why });
}

function toPushEvent(report: PushReport, { context }: ReportScope) {
  const pending = findPush(context, report);
  return pending === undefined ? OTHER : toEvent("push.reported", { pending, said: report });
}

function toReportEvent(report: RunReported["said"], scope: ReportScope) {
  switch (report.type) {
    case "run.permission":
    case "run.handover":
      return { ...report, ...scope.owned() };
    case "run.ended":
      return toEndEvent(report, scope);
    case "run.pull-request":
      return toWishEvent(report, scope);
    case "run.pushed":
    case "run.push-rejected":
      return toPushEvent(report, scope);
    default:
      return report;
  }
}

function toSpeechEvent(turn: TurnReading, context: RunContext, message: SendMessage, owner: RunOwner) {
  const before = findSentBefore(turn, message);
  const refusal = refuseMessage(turn, context, { ...message, before }, owner);
  return refusal === null
    ? toEvent("message.taken", { ...message, before })
    : toEvent("message.refused", { ...message, refusal });
}

function toApprovalEvent(turn: TurnReading, message: AnswerApproval, owner: RunOwner) {
  const refuse = (refusal: Refusal) => toEvent("approval.refused", { ...message, refusal });
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return refuse(before);
  const repeated = before === null ? undefined : approvals.get(turn, turn.self.partition, turn.self.id, before);
  if (repeated !== undefined) return toEvent("approval.repeated", { ...message, approval: repeated });
  const found = findAnswerable(turn, message, owner);
  return isRefusal(found) ? refuse(found) : toEvent("approval.answered", { ...message, approval: found, owner });
}

/** A classified message, with the data that its transition needs. */
export type RunEvent = ReturnType<ReturnType<typeof classifyRun>>;
