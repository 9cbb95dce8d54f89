import type { Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { RunRow } from "../runs/run.js";
import type { RunAsking, RunBegan, RunOver } from "../runs/run.messages.js";
import type * as messages from "./task.messages.js";

/** What a task holds, what it is told, and what its machine takes: each message by what it means. */

export interface TaskContext {
  /** The run under way, or null. */
  readonly runId: string | null;
  /** Runs abandoned in a row. */
  readonly abandoned: number;
}

/** Where a run that is over leaves its task. */
export interface NextStation {
  readonly next: "queued" | "inbox" | "done";
  /** The station it moves to, when it was handed over. */
  readonly to?: string;
  /** What the assignee is asked or told. */
  readonly asks?: string;
}

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
