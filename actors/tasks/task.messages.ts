import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { TaskPullRequestChanged } from "../pull-requests/pull-request.messages.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { Opener } from "../run-facts/opener.js";
import type { OwnerMessage } from "../runs/run.messages.js";
import type { TaskRow } from "./task.js";
import type { TaskReview } from "./task-review.js";
import type { OpenRaised, TaskMark, TellRaised } from "./team-marks.messages.js";

/** The task after the message, or the refusal. */
export type TaskAnswer = TaskTold | Refusal;

interface TaskTold {
  readonly task: TaskRow;
  /** Whether the message was taken before, under the same key. */
  readonly replayed: boolean;
}

/** A message of a person. */
interface Command extends Answered<TaskAnswer>, Keyed {}

/** A message that a hook may have caused. */
interface Caused extends Command {
  /** The hook occurrences and events that led to it, oldest first; empty when none are given. */
  readonly causes?: readonly string[];
}

/** Opens a task; the id in the address is its own, unless its key has opened one before: the answer is that one. */
export interface OpenTask extends Caused {
  readonly type: "task.open";
  readonly teamId: string;
  readonly lineId: string;
  readonly title: string;
  readonly description: string;
  readonly url: string;
  /** Key of the station where it begins; null for the first of the line. */
  readonly station: string | null;
  readonly assignee: string | null;
  /** What its runs review; absent for nothing. */
  readonly reviews?: TaskReview;
  /** The person who opens it. */
  readonly by: string;
  /** Who opens it where that is no person; absent for `by`. */
  readonly openedBy?: Opener;
}

/** Only the assignee may do this. */
export interface AnswerTask extends Caused {
  readonly type: "task.answer";
  readonly by: string;
  readonly text: string;
}
export interface StopTask extends Caused {
  readonly type: "task.stop";
  readonly by: string;
}

/** Anyone on the team may do this. */
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
export interface AssignTask extends Command {
  readonly type: "task.assign";
  readonly by: string;
  readonly assignee: string | null;
}

/** Adds a person's note to the task. */
export interface AddNote extends Command {
  readonly type: "task.note";
  readonly by: string;
  readonly text: string;
}

/** The person left: the task has no assignee any more if it was theirs. */
export interface UnassignTask extends Message {
  readonly type: "task.unassign";
  readonly userId: string;
  /** What they left. */
  readonly left: "team" | "workspace";
}

/** Adds a note to the task; once for each `key`, at any time. */
export interface NoteTask extends Message {
  readonly type: "note";
  /** `person <id>`, `hook <key>`. */
  readonly from: string;
  readonly text: string;
  readonly key: string | null;
}

/** From the marks of its team: the marks that it has. */
export interface MarkTask extends Message {
  readonly type: "task.mark";
  readonly marks: readonly TaskMark[];
  /** Whether it has no others. */
  readonly replaces: boolean;
}

/** The workspace is closed: the task closes and its run ends. */
export interface WithdrawTask extends Answered<TaskAnswer> {
  readonly type: "task.withdraw";
}

/** From retention: a task that ended is removed, with all that belongs to it, unless something keeps it. */
export interface ForgetTask extends Message {
  readonly type: "task.forget";
}

/** The messages about a task that are not of its runs, its pull requests or the marks of its team. */
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
export const taskRef = reference<OwnerMessage | TaskPullRequestChanged | OpenRaised | TellRaised | TaskCommand>("task");
