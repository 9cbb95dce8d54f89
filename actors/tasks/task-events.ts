import type { Answered, Message } from "../../runtime/turn.js";
import type { TaskPullRequestChanged } from "../pull-requests/pull-request.messages.js";
import type { Refusal } from "../refusal.js";
import type { RunRow } from "../runs/run.js";
import type { RunAsking, RunBegan, RunOver } from "../runs/run.messages.js";
import type { TaskRow } from "./task.js";
import type * as messages from "./task.messages.js";
import type { TaskAnswer } from "./task.messages.js";
import type { OpenRaised, RaiseRefused, RaiseTask, TellRaised } from "./team-marks.messages.js";

/** The context of a task, the messages it gets, and the events of its machine: what each message means. */

export interface TaskContext {
  /** The run under way, or null. */
  readonly runId: string | null;
  /** Runs abandoned in a row. */
  readonly abandoned: number;
  /** Its ended runs of which something may still become (`ended-runs.ts`), in the order of their ends. */
  readonly ended: readonly EndedRun[];
  /** Pull requests that are being opened, before it is done. */
  readonly opening: readonly string[];
}

/** A run that is over, as long as something may still become of it. */
export interface EndedRun {
  readonly runId: string;
  /** Key of the station that it ran at. */
  readonly station: string;
  /** Whether its change goes on with the task, neither accepted nor sent back yet. */
  readonly stands: boolean;
  /** Whether no person has done anything with the task since. */
  readonly waits: boolean;
}

/** Where a task goes after its run is over. */
export interface NextStation {
  readonly next: "queued" | "inbox" | "done" | "opening";
  /** The station it moves to, when the run handed over. */
  readonly to?: string;
  /** The question or notice for the assignee. */
  readonly asks?: string;
  /** The pull requests that are being opened, where the task waits for them. */
  readonly opening?: readonly string[];
}

/** The messages that a task gets. */
export type TaskMessage =
  | messages.OpenTask
  | messages.AnswerTask
  | messages.StopTask
  | messages.RetryTask
  | messages.MoveTask
  | messages.CloseTask
  | messages.AssignTask
  | messages.UnassignTask
  | messages.AddNote
  | messages.NoteTask
  | messages.WithdrawTask
  | messages.ForgetTask
  | messages.MarkTask
  | TaskPullRequestChanged
  | OpenRaised
  | TellRaised
  | RunBegan
  | RunAsking
  | RunOver;

/** A refused message; the type says which. */
export interface TaskRefused extends Answered<Refusal> {
  readonly type:
    | "opening.refused"
    | "answer.refused"
    | "stop.refused"
    | "retry.refused"
    | "move.refused"
    | "assignment.refused"
    | "repeat.refused";
  readonly refusal: Refusal;
}

/** What an event raised does not open or reach the task; the reason is told. */
export interface RaiseNotTaken extends Message, Pick<RaiseRefused, "reason"> {
  readonly type: "raise.unopened" | "raise.untold";
  readonly teamId: string;
  readonly raise: RaiseTask;
}

/** A message that was taken before, under the same key. */
interface CommandRepeated extends Answered<TaskAnswer> {
  readonly type: "command.repeated";
  /** The task that it opened or was about. */
  readonly task: TaskRow;
}

/** The task's run waits for the approval of a call. */
interface ApprovalWanted extends Message {
  readonly type: "approval.wanted";
  readonly asks: string;
}
interface ApprovalNotWanted extends Message {
  readonly type: "approval.not-wanted";
}

/** The task's run is over; the type says where the task goes. */
export interface RunIsOver extends Omit<RunOver, "type"> {
  readonly type: "over.queued" | "over.inbox" | "over.done" | "over.opening";
  readonly run: RunRow | undefined;
  readonly decided: NextStation;
}

/** The last pull request that the task waited for is open, or one could not be opened. */
export interface OpeningOver extends Message {
  readonly type: "opened.done" | "opened.inbox";
  /** What to ask the assignee; null for nothing. */
  readonly asks: string | null;
}

/** The task is removed (`due`), its time begins only now (`begun`), or something keeps it. */
interface ForgetChecked extends Message {
  readonly type: "forget.due" | "forget.begun" | "forget.kept";
}

/** A message of a run that is not, or no longer, the task's; a stop without a run. */
interface ConcernsNoRun extends Message {
  readonly type: "began.other" | "asking.other" | "over.other" | "stop.of-nothing" | "resume.of-ended";
}

/** A message classified by its effect, with what was read to classify it. */
export type TaskEvent =
  | Exclude<TaskMessage, RunAsking | RunOver | messages.ForgetTask>
  | ForgetChecked
  | TaskRefused
  | RaiseNotTaken
  | CommandRepeated
  | ApprovalWanted
  | ApprovalNotWanted
  | RunIsOver
  | OpeningOver
  | ConcernsNoRun;
