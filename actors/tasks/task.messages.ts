import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { OwnerMessage } from "../runs/run.messages.js";
import type { TaskRow } from "./task.js";

/** The task as it is then, or why not. */
export type TaskAnswer = { readonly task: TaskRow } | Refusal;

/** What may have been caused by a hook. */
interface Caused extends Answered<TaskAnswer> {
  /** The firings and events that led to it, oldest first; none when nobody told of any. */
  readonly causes?: readonly string[];
}

/** Opens a task; the id in the address is its own. */
export interface OpenTask extends Caused {
  readonly type: "task.open";
  readonly teamId: string;
  readonly lineId: string;
  readonly title: string;
  readonly description: string;
  readonly url: string;
  /** Where it begins; null takes the line's first station. */
  readonly station: string | null;
  readonly assignee: string | null;
  /** The person who opens it. */
  readonly by: string;
}

/** What only the assignee may do. */
export interface AnswerTask extends Caused {
  readonly type: "task.answer";
  readonly by: string;
  readonly text: string;
}
export interface StopTask extends Caused {
  readonly type: "task.stop";
  readonly by: string;
}

/** What anyone on the team may do. */
export interface RetryTask extends Caused {
  readonly type: "task.retry";
  readonly by: string;
}
export interface MoveTask extends Caused {
  readonly type: "task.move";
  readonly by: string;
  readonly to: string;
}
export interface CloseTask extends Caused {
  readonly type: "task.close";
  readonly by: string;
}
export interface AssignTask extends Answered<TaskAnswer> {
  readonly type: "task.assign";
  readonly by: string;
  readonly assignee: string | null;
}

/** The person left: a task of theirs is nobody's then. */
export interface UnassignTask extends Message {
  readonly type: "task.unassign";
  readonly userId: string;
  /** What they left. */
  readonly left: "team" | "workspace";
}

/** Says something on the task; once for each `key`. */
export interface NoteTask extends Message {
  readonly type: "note";
  /** `person <id>`, `hook <key>`. */
  readonly from: string;
  readonly text: string;
  readonly key: string | null;
}

/** The workspace is closed: nothing goes on. */
export interface WithdrawTask extends Message {
  readonly type: "task.withdraw";
}

/** A task of a workspace. */
export const taskRef = reference<
  | OwnerMessage
  | OpenTask
  | AnswerTask
  | StopTask
  | RetryTask
  | MoveTask
  | CloseTask
  | AssignTask
  | UnassignTask
  | NoteTask
  | WithdrawTask
>("task");
