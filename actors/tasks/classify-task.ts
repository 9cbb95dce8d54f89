import type { Message, TurnReading } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { RunAsking, RunBegan, RunOver } from "../runs/run.messages.js";
import { type RunRow, runs } from "../runs/run.table.js";
import { type NextStation, nextStation } from "./next-station.js";
import type { TaskContext } from "./task.machine.js";
import type * as messages from "./task.messages.js";
import {
  refusedWhileAsked,
  refuseUnlessAssignee,
  refuseUnlessMember,
  refuseUnlessOpens,
  refuseUnlessStation,
} from "./task.transitions.js";

/** What a task is told. */
export type TaskMessage =
  | messages.OpenTask
  | messages.AnswerTask
  | messages.StopTask
  | messages.RetryTask
  | messages.MoveTask
  | messages.CloseTask
  | messages.AssignTask
  | messages.UnassignTask
  | messages.NoteTask
  | messages.WithdrawTask
  | RunBegan
  | RunAsking
  | RunOver;

/** What is refused, by what was wanted. */
export interface TaskRefused extends Message {
  readonly type:
    | "opening.refused"
    | "answer.refused"
    | "stop.refused"
    | "retry.refused"
    | "move.refused"
    | "assignment.refused";
  readonly refusal: Refusal;
}

/** The task's run waits for leave to make a call. */
interface LeaveWanted extends Message {
  readonly type: "leave.wanted";
  readonly asks: string;
}
interface LeaveNotWanted extends Message {
  readonly type: "leave.not-wanted";
}

/** The task's run is over, by where that leaves the task. */
export interface RunIsOver extends Omit<RunOver, "type"> {
  readonly type: "over.queued" | "over.inbox" | "over.done";
  readonly run: RunRow | undefined;
  readonly decided: NextStation;
}

/** What a run says that is not the task's, or not any more; a stop where no run is. */
interface ConcernsNoRun extends Message {
  readonly type: "began.other" | "asking.other" | "over.other" | "stop.of-nothing";
}

/** A message by where it leads, with what was read to find that out. */
export type TaskEvent =
  | Exclude<TaskMessage, RunAsking | RunOver>
  | TaskRefused
  | LeaveWanted
  | LeaveNotWanted
  | RunIsOver
  | ConcernsNoRun;

interface TaskState {
  readonly value: string;
  readonly context: TaskContext;
}

/** Gives the event of a message. It reads and does nothing else. */
export function classifyTask(message: TaskMessage, { value, context }: TaskState, turn: TurnReading): TaskEvent {
  const { runId } = context;
  switch (message.type) {
    case "run.began":
      return message.runId === runId ? message : { type: "began.other" };
    case "run.asking":
      return message.runId === runId ? toAskingEvent(message) : { type: "asking.other" };
    case "run.over":
      return message.runId === runId ? toOverEvent(message, context, turn) : { type: "over.other" };
    case "task.open":
      return unlessRefused(message, "opening.refused", refuseUnlessOpens(turn, message));
    default:
      // Before it is opened a task has no row to read, and takes nothing else but notes.
      return value === "new" || message.type === "note" ? message : toWorkEvent(message, runId, turn);
  }
}

type WorkMessage = Exclude<TaskMessage, messages.OpenTask | messages.NoteTask | RunBegan | RunAsking | RunOver>;

function toWorkEvent(message: WorkMessage, runId: string | null, turn: TurnReading): TaskEvent {
  switch (message.type) {
    case "task.stop":
      if (runId === null) return { type: "stop.of-nothing" };
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
      return unlessRefused(message, "assignment.refused", refuseUnlessMember(turn, message.assignee));
    case "task.close":
    case "task.withdraw":
    case "task.unassign":
      return message;
  }
}

function unlessRefused<M extends TaskEvent>(
  message: M,
  type: TaskRefused["type"],
  refusal: Refusal | null,
): M | TaskRefused {
  return refusal === null ? message : { type, refusal };
}

function toAskingEvent({ asks }: RunAsking): TaskEvent {
  return asks === null ? { type: "leave.not-wanted" } : { type: "leave.wanted", asks };
}

function toOverEvent(message: RunOver, context: TaskContext, turn: TurnReading): TaskEvent {
  const run = runs.get(turn, turn.self.partition, message.runId);
  const decided = nextStation(turn, run, message, context);
  return { ...message, type: `over.${decided.next}`, run, decided };
}
