import { reference } from "../../runtime/cells/reference.js";
import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { Caller, TokenCaller } from "../caller.js";
import type { TaskPullRequestChanged } from "../pull-requests/pull-request.messages.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { OwnerMessage } from "../runs/run.messages.js";
import type { TaskRow } from "./task.js";
import type { TaskReview } from "./task-review.js";
import type { OpenRaised, ReportRaised, TaskMark } from "./team-marks.messages.js";

/** The task after the message, or the refusal. */
export type TaskAnswer = TaskResult | Refusal;

interface TaskResult {
  readonly task: TaskRow;
  /** Whether an earlier message with the same key had this result. */
  readonly replayed: boolean;
}

/** A message that the service sends for a request of a person or a token. The request may have an idempotency key. */
interface Command extends Answered<TaskAnswer>, Keyed {}

/** A message that a hook may cause. */
interface Caused extends Command {
  /** The hook occurrences and events that led to the message, oldest first; absent or empty for none. */
  readonly causes?: readonly string[];
}

/** The sender of a command that people and tokens send. */
interface Sender {
  /** User id of the sender. If a token sends the command: user id of the person who issued the token. */
  readonly by: string;
  /** The token; absent if a person sends the command. */
  readonly token?: TokenCaller;
}

/** Returns the sender of a caller's command. */
export function toSender(caller: Caller): Sender {
  return caller.kind === "person" ? { by: caller.userId } : { by: caller.issuedBy, token: caller };
}

/**
 * Opens a task. The actor's id is the id of the new task. If the key already opened a task, the answer is that task.
 */
export interface OpenTask extends Caused, Sender {
  readonly type: "task.open";
  readonly teamId: string;
  readonly lineId: string;
  readonly title: string;
  readonly description: string;
  readonly url: string;
  /** Key of the station where the task starts; null for the first station of the line. */
  readonly station: string | null;
  readonly assignee: string | null;
  /** The review that the task's runs make; absent if they review nothing. */
  readonly reviews?: TaskReview;
}

/** Answers the task's question. Only the assignee may do this. */
export interface AnswerTask extends Caused {
  readonly type: "task.answer";
  readonly by: string;
  readonly text: string;
}
export interface StopTask extends Caused {
  readonly type: "task.stop";
  readonly by: string;
}

/** Retries the task. Any team member may do this. */
export interface RetryTask extends Caused {
  readonly type: "task.retry";
  readonly by: string;
}
export interface MoveTask extends Caused {
  readonly type: "task.move";
  readonly by: string;
  readonly to: string;
}
export interface CloseTask extends Caused, Sender {
  readonly type: "task.close";
}
export interface AssignTask extends Command {
  readonly type: "task.assign";
  readonly by: string;
  readonly assignee: string | null;
}

/** Adds a note of a person or a token to the task. */
export interface AddNote extends Command, Sender {
  readonly type: "task.note";
  readonly text: string;
}

/** A person has left the team or the workspace. Unassigns the task if that person is its assignee. */
export interface UnassignTask extends Message {
  readonly type: "task.unassign";
  readonly userId: string;
  /** Whether the person left the team or the workspace. */
  readonly left: "team" | "workspace";
}

/** Adds a note to the task, once for each `key`, in any state. */
export interface NoteTask extends Message {
  readonly type: "note";
  /** The sender, for example `person <id>` or `hook <key>`. */
  readonly from: string;
  readonly text: string;
  readonly key: string | null;
}

/** Sent by the team's marks actor: sets marks of the task. */
export interface MarkTask extends Message {
  readonly type: "task.mark";
  readonly marks: readonly TaskMark[];
  /** Whether `marks` replaces all marks of the task. */
  readonly replaces: boolean;
}

/** The workspace has closed: closes the task and ends its run. */
export interface WithdrawTask extends Answered<TaskAnswer> {
  readonly type: "task.withdraw";
}

/** From retention: removes an ended task with all its rows, unless the task is open, pinned, or still needed. */
export interface ForgetTask extends Message {
  readonly type: "task.forget";
}

/** The messages to a task, except integration events and the messages from its runs and its pull requests. */
export type TaskCommand =
  | OpenTask
  | AnswerTask
  | StopTask
  | RetryTask
  | MoveTask
  | CloseTask
  | AssignTask
  | UnassignTask
  | AddNote
  | NoteTask
  | WithdrawTask
  | ForgetTask
  | MarkTask;

/** A task of a workspace. */
export const taskRef = reference<OwnerMessage | TaskPullRequestChanged | OpenRaised | ReportRaised | TaskCommand>(
  "task",
);
