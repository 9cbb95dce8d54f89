import { type Reference, reference } from "../../runtime/reference.js";
import type { Message } from "../../runtime/turn.js";
import type { StoredText } from "../tables/text-blobs.js";

/** A mark of a task: something in another system that the task is about. */
export interface TaskMark {
  readonly kind: string;
  readonly value: string;
}

/** How an event opens a task. */
export interface RaisedOpening {
  readonly lineId: string;
  /** Key of the station; null for the first of the line. */
  readonly station: string | null;
  /** As the event says it: an empty one becomes `Untitled`, a long one is cut. */
  readonly title: string;
  readonly description: string;
  readonly url: string;
  /** Mail address of whom the task is assigned to if they are on the team, in any case; null for nobody. */
  readonly assigneeEmail: string | null;
}

/** Files that an event attaches. Each is fetched by the request of the event's `raise.attaches`. */
export interface RaisedFiles {
  /** The block of the definition, and the index of the event in it. */
  readonly source: "webhook" | "poll";
  readonly event: number;
  /** What all its expressions see, as JSON text; without `body` and `raw` where the delivery's body is a blob. */
  readonly values: StoredText;
  /** Digest of the delivery's body where `values` has none; null otherwise. */
  readonly bodyDigest: string | null;
  readonly files: readonly RaisedFile[];
  /** How many more the event has, which are left out; absent in a message of an earlier release. */
  readonly left?: number;
}

export interface RaisedFile {
  /** As the event says it; the name of the attachment is made of its last part. */
  readonly name: string;
  readonly type: string | null;
  /** In bytes, as the event says it; null where it does not. */
  readonly size: number | null;
  /** The value of `file`, as JSON text. */
  readonly file: string;
}

/**
 * What an event of an integration raises, evaluated whole. The open task of the team that has one of the marks is told;
 * without one a task is opened. Done once for each key of the team; asked again, it is answered the same.
 */
export interface RaiseTask extends Message {
  readonly type: "task.raise";
  readonly deliveryId: string;
  readonly key: string;
  readonly integration: { readonly id: string; readonly key: string };
  /** A note on the task; empty for none. */
  readonly say: string;
  /** Null opens nothing. */
  readonly opens: RaisedOpening | null;
  /** The branch at which runs of the task start; null leaves it as it is, and so does what git takes for none. */
  readonly branch: string | null;
  readonly marks: readonly TaskMark[];
  /** The route's channel; null for none. */
  readonly channel: string | null;
  readonly attaches: RaisedFiles | null;
  /** The hook occurrences and events that led to it, oldest first. */
  readonly causes: readonly string[];
  readonly answerTo: Reference<TaskRaised>;
}

/** Marks that a binding sets on a task. A mark that another open task has stays with that one. */
export interface SetMarks extends Message {
  readonly type: "marks.set";
  readonly taskId: string;
  readonly marks: readonly TaskMark[];
}

/** The answer to {@link RaiseTask}, sent to its `answerTo` once the task has taken it. */
export interface TaskRaised extends Message {
  readonly type: "task.raised";
  readonly deliveryId: string;
  readonly key: string;
  readonly outcome: RaiseOutcome;
  /** The task that was opened or told; null for none. */
  readonly taskId: string | null;
  /** Why it failed: the line or the station is gone; null unless it did. */
  readonly reason: "line-gone" | "station-gone" | null;
}

export type RaiseOutcome = "opened" | "said" | "unmatched" | "failed";

/** From the marks of a team to a task that is not there yet: it is opened as `raise.opens` says, with these marks. */
export interface OpenRaised extends Message {
  readonly type: "raise.open";
  readonly teamId: string;
  readonly raise: RaiseTask;
  readonly marks: readonly TaskMark[];
}

/** From the marks of a team to the task that has one of the marks: it gets these marks. */
export interface TellRaised extends Message {
  readonly type: "raise.tell";
  readonly teamId: string;
  readonly raise: RaiseTask;
  readonly marks: readonly TaskMark[];
}

/** A task's answer: it was opened or told. */
export interface RaiseTaken extends Message {
  readonly type: "raise.taken";
  readonly key: string;
  /** The marks that the task was opened with; absent where it was there before, or is not known to say. */
  readonly marks?: readonly TaskMark[];
}

/** A task's answer: it could not be opened, or there is no such task. */
export interface RaiseRefused extends Message {
  readonly type: "raise.refused";
  readonly raise: RaiseTask;
  readonly reason: NonNullable<TaskRaised["reason"]> | "task-gone";
}

/** A task that has marks is over. */
export interface FreeMarks extends Message {
  readonly type: "marks.free";
  readonly taskId: string;
}

/** A task that was over is open again: it gets those of its marks that no other task got meanwhile. */
export interface RetakeMarks extends Message {
  readonly type: "marks.retake";
  readonly taskId: string;
}

export type TeamMarksMessage = RaiseTask | SetMarks | RaiseTaken | RaiseRefused | FreeMarks | RetakeMarks;

/** The marks of a team's tasks, and what is raised about them. */
export const teamMarksRef = reference<TeamMarksMessage, [workspaceId: string, teamId: string]>(
  "team-marks",
  (workspaceId, teamId) => [workspaceId, teamId],
);
