import { toEvent } from "../../runtime/cells/chart.js";
import type { Answered, TurnReading } from "../../runtime/turns/turn.js";
import { refuseEndedToken } from "../access/tokens/workspace-token.queries.js";
import { findLine, findStation, laterStations } from "../lines/line.queries.js";
import type { TaskPullRequestChanged } from "../pull-requests/pull-request.messages.js";
import { isRefusal, type Refusal, type Refused, toRefused } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import type { RunRow } from "../runs/run.js";
import type { OwnerMessage, RunAsking, RunOver } from "../runs/run.messages.js";
import { runs } from "../runs/run.table.js";
import { whyNotOpened } from "./raised-values.js";
import type { NextStation, TaskContext, TaskRow } from "./task.js";
import type { ForgetTask, NoteTask, OpenTask, TaskAnswer, TaskCommand } from "./task.messages.js";
import { checkForget } from "./task.retention.js";
import { tasks } from "./task.table.js";
import {
  refusedWhileAsked,
  refuseUnlessAssignee,
  refuseUnlessOnTeam,
  refuseUnlessOpens,
  refuseUnlessStation,
  taskRow,
} from "./task.transitions.js";
import { hasOpenPullRequest, toOpenedEvent, withPullRequests } from "./task-pull-requests.js";
import type { OpenRaised, ReportRaised } from "./team-marks.messages.js";

type TaskMessage = OwnerMessage | TaskPullRequestChanged | OpenRaised | ReportRaised | TaskCommand;

/** Classifies each message to a task as an event of the task's machine. Reads only. */
export function classifyTask(
  message: TaskMessage,
  { value, context }: { readonly value: string; readonly context: TaskContext },
  turn: TurnReading,
) {
  const { runId } = context;
  const token = "token" in message ? message.token : undefined;
  const ended = token === undefined ? null : refuseEndedToken(turn, token, turn.now);
  if (ended !== null) return toRefused("token.refused", ended);
  const repeat = toRepeatEvent(message, turn);
  if (repeat !== null) return repeat;
  switch (message.type) {
    case "run.began":
      return message.runId === runId ? message : toEvent("began.other");
    case "run.asking":
      return message.runId === runId ? toAskingEvent(message) : toEvent("asking.other");
    case "run.over":
      return message.runId === runId ? toOverEvent(message, context, turn) : toEvent("over.other");
    case "pull-request.changed":
      return value === "opening" ? toOpenedEvent(message, context, turn) : message;
    case "task.forget":
      return toEvent(`forget.${checkForget(turn)}`);
    case "raise.open":
    case "raise.tell":
      return toRaiseEvent(message, value, turn);
    case "task.open":
      return unlessRefused(message, "opening.refused", refuseUnlessOpens(turn, message));
    default:
      // A task that is not open yet has no row. It can only receive notes and messages that open the task.
      if (value === "new" || message.type === "note") return message;
      return isResumeOfEnded(message, value, turn) ? toEvent("resume.of-ended") : toWorkEvent(message, runId, turn);
  }
}

/** Whether the message asks to resume a finished task that has no open pull request. Such a task cannot be resumed. */
function isResumeOfEnded({ type }: TaskMessage, value: string, turn: TurnReading): boolean {
  return value === "done" && (type === "task.move" || type === "task.retry") && !hasOpenPullRequest(turn);
}

/** A command that repeats an earlier command with the same idempotency key and the same body. */
interface CommandRepeated extends Answered<TaskAnswer> {
  readonly type: "command.repeated";
  /** The task that the earlier message opened or changed. */
  readonly task: TaskRow;
}

/** Returns the event of a message whose key was used before; null for any other message. */
function toRepeatEvent(message: TaskMessage, turn: TurnReading): CommandRepeated | Refused<"repeat.refused"> | null {
  const taskId = "idempotency" in message ? findRequestBefore(turn, message) : null;
  if (taskId === null) return null;
  if (isRefusal(taskId)) return toRefused("repeat.refused", taskId);
  const task = tasks.get(turn, turn.self.partition, taskId);
  if (task !== undefined) return { type: "command.repeated", task };
  return toRefused("repeat.refused", {
    refused: "conflict",
    detail: "The task that this Idempotency-Key created was deleted.",
  });
}

function toRaiseEvent(message: OpenRaised | ReportRaised, value: string, turn: TurnReading) {
  const { raise, teamId } = message;
  if (message.type === "raise.tell") {
    return value === "new" ? toEvent("raise.untold", { teamId, raise, reason: "task-gone" }) : message;
  }
  const reason = raise.opens === null ? null : whyNotOpened(turn, raise.opens);
  return reason === null ? message : toEvent("raise.unopened", { teamId, raise, reason });
}

function toWorkEvent(
  message: Exclude<TaskCommand, OpenTask | NoteTask | ForgetTask>,
  runId: string | null,
  turn: TurnReading,
) {
  switch (message.type) {
    case "task.stop":
      if (runId === null) return toEvent("stop.of-nothing");
      return unlessRefused(message, "stop.refused", refuseUnlessAssignee(turn, message.by));
    case "task.answer":
      return unlessRefused(
        message,
        "answer.refused",
        runId === null ? refuseUnlessAssignee(turn, message.by) : refusedWhileAsked,
      );
    case "task.retry":
      return unlessRefused(message, "retry.refused", runId === null ? null : refusedWhileAsked);
    case "task.move":
      return unlessRefused(message, "move.refused", refuseUnlessStation(turn, message.to));
    case "task.assign":
      return unlessRefused(
        message,
        "assignment.refused",
        refuseUnlessOnTeam(turn, message.assignee, taskRow(turn).teamId),
      );
    // Other commands need no check here. This case also covers messages of unknown types, which no transition handles.
    default:
      return message;
  }
}

function unlessRefused<M extends TaskMessage, Type extends string>(message: M, type: Type, refusal: Refusal | null) {
  return refusal === null ? message : toRefused(type, refusal);
}

function toAskingEvent({ asks }: RunAsking) {
  return asks === null ? toEvent("approval.not-wanted") : toEvent("approval.wanted", { asks });
}

function toOverEvent(message: RunOver, context: TaskContext, turn: TurnReading) {
  const run = runs.get(turn, turn.self.partition, message.runId);
  const decided = withPullRequests(turn, run, nextStation(turn, run, message, context));
  return toEvent(`over.${decided.next}`, { ...message, run, decided });
}

/** Number of abandoned attempts in a row after which the task goes to a person. */
const MAX_ABANDONED = 5;

/** Decides where the task goes after its run has ended. Reads only. */
function nextStation(
  turn: TurnReading,
  run: RunRow | undefined,
  { outcome }: Pick<RunOver, "outcome">,
  { abandoned }: Pick<TaskContext, "abandoned">,
): NextStation {
  if (run === undefined) return { next: "inbox", asks: "The run was deleted." };
  switch (outcome) {
    case "completed":
      return nextStationOfCompleted(turn, run);
    case "abandoned":
      return abandoned + 1 < MAX_ABANDONED
        ? { next: "queued" }
        : { next: "inbox", asks: `${MAX_ABANDONED} runs in a row lost their runner.` };
    case "failed":
      return { next: "inbox", asks: run.failure?.message ?? "The run failed." };
    default:
      return { next: "inbox", asks: run.reason ?? `The run was ${outcome}.` };
  }
}

function nextStationOfCompleted(turn: TurnReading, run: RunRow): NextStation {
  const { ending } = run;
  if (ending?.kind === "ask") return { next: "inbox", asks: ending.question };
  const line = findLine(turn, turn.self.partition, run.lineId);
  if (ending?.kind === "handover") {
    return findStation(line, ending.to) === undefined
      ? { next: "inbox", asks: `It was handed over to ${ending.to}, which the line no longer has.` }
      : { next: "queued", to: ending.to };
  }
  if (laterStations(line, run.stationKey, run.passesTo).length === 0) return { next: "done" };
  return { next: "inbox", asks: ending?.note || "The run ended without handing over." };
}
