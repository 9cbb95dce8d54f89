import { type Reference, reference } from "../../runtime/cells/reference.js";
import type { Message } from "../../runtime/turns/turn.js";
import type { StoredText } from "../tables/text-blobs.js";

/** A mark of a task: something in another system that the task is about. */
export interface TaskMark {
  readonly kind: string;
  readonly value: string;
}

/** How an event opens a task. */
export interface RaisedOpening {
  readonly lineId: string;
  /** Key of the station where the task starts; null for the first station of the line. */
  readonly station: string | null;
  /** The event's title, of any length. The service replaces an empty title by `Untitled` and cuts a long one. */
  readonly title: string;
  readonly description: string;
  readonly url: string;
  /** Email address of the assignee, ignoring case; used only if that person is on the team. Null for nobody. */
  readonly assigneeEmail: string | null;
}

/** Files that an event attaches. The request in the event's `raise.attaches` fetches each file. */
export interface RaisedFiles {
  /** The block of the integration's definition, and the event's index in the block. */
  readonly source: "webhook" | "poll";
  readonly event: number;
  /**
   * The values that all expressions of the files can read, as JSON text. The values lack `body` and `raw` if the
   * delivery's body is a blob.
   */
  readonly values: StoredText;
  /**
   * Digest of the delivery's body. The expressions read `body` and `raw` from that blob. Null if the body was dropped.
   */
  readonly bodyDigest: string | null;
  readonly files: readonly RaisedFile[];
  /** The number of further files, which are left out; absent in messages of earlier releases. */
  readonly left?: number;
}

export interface RaisedFile {
  /** The file name in the event. The attachment's name is the last part of this name. */
  readonly name: string;
  readonly type: string | null;
  /** Size in bytes, if the event gives it; otherwise null. */
  readonly size: number | null;
  /** The value of `file`, as JSON text. */
  readonly file: string;
}

/**
 * An integration event with all its expressions evaluated. If an open task of the team has one of the marks, the event
 * becomes a note on that task. Otherwise the event opens a task, if `opens` is set. Within a team, only the first event
 * with a given key takes effect. A later event with the same key gets the same answer.
 */
export interface RaiseTask extends Message {
  readonly type: "task.raise";
  readonly deliveryId: string;
  readonly key: string;
  readonly integration: { readonly id: string; readonly key: string };
  /** The note to add to the task; empty for no note. */
  readonly say: string;
  /** The task to open; null opens nothing. */
  readonly opens: RaisedOpening | null;
  /**
   * The branch at which runs of the task start. Null, and an invalid branch name, leave the task's branch unchanged.
   */
  readonly branch: string | null;
  readonly marks: readonly TaskMark[];
  /** The route's channel; null for none. */
  readonly channel: string | null;
  readonly attaches: RaisedFiles | null;
  /** The hook occurrences and events that led to the event, oldest first. */
  readonly causes: readonly string[];
  readonly answerTo: Reference<TaskRaised>;
}

/** Sets marks that a binding gives to a task. A mark that another open task has stays with that task. */
export interface SetMarks extends Message {
  readonly type: "marks.set";
  readonly taskId: string;
  readonly marks: readonly TaskMark[];
}

/** The answer to {@link RaiseTask}, sent to its `answerTo` once the result is known. */
export interface TaskRaised extends Message {
  readonly type: "task.raised";
  readonly deliveryId: string;
  readonly key: string;
  readonly outcome: RaiseOutcome;
  /** The task that the event opened or was added to; null for none. */
  readonly taskId: string | null;
  /** The reason for a failure: a deleted line or station. Null if nothing failed. */
  readonly reason: "line-gone" | "station-gone" | null;
}

export type RaiseOutcome = "opened" | "said" | "unmatched" | "failed";

/** Sent by the team's marks actor to a new task: opens it by `raise.opens`, with these marks. */
export interface OpenRaised extends Message {
  readonly type: "raise.open";
  readonly teamId: string;
  readonly raise: RaiseTask;
  readonly marks: readonly TaskMark[];
}

/** Sent by the team's marks actor to the task that the event is about: adds the event and `marks` to the task. */
export interface ReportRaised extends Message {
  readonly type: "raise.tell";
  readonly teamId: string;
  readonly raise: RaiseTask;
  readonly marks: readonly TaskMark[];
}

/** From a task: the event opened the task, or the existing task has processed the event. */
export interface RaiseTaken extends Message {
  readonly type: "raise.taken";
  readonly key: string;
  /**
   * The marks that the task was opened with; absent if the task existed before, and in messages of earlier releases.
   */
  readonly marks?: readonly TaskMark[];
}

/** From a task: the event could not open the task, or the task that the event is about does not exist. */
export interface RaiseRefused extends Message {
  readonly type: "raise.refused";
  readonly raise: RaiseTask;
  readonly reason: NonNullable<TaskRaised["reason"]> | "task-gone";
}

/** A task with marks has ended. */
export interface FreeMarks extends Message {
  readonly type: "marks.free";
  readonly taskId: string;
}

/** An ended task is open again: it regains its marks, unless another task has them now. */
export interface RetakeMarks extends Message {
  readonly type: "marks.retake";
  readonly taskId: string;
}

export type TeamMarksMessage = RaiseTask | SetMarks | RaiseTaken | RaiseRefused | FreeMarks | RetakeMarks;

/** The marks of a team's tasks, and the events about them. */
export const teamMarksRef = reference<TeamMarksMessage, [workspaceId: string, teamId: string]>(
  "team-marks",
  (workspaceId, teamId) => [workspaceId, teamId],
);
