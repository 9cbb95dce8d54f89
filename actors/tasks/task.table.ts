import type { DirectoryEntry } from "../../runtime/directory.js";
import { rowSource } from "../../runtime/directory-source.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { EventSubject } from "../events/event-task.js";
import { locationEntry } from "../resources/resource-location.table.js";
import type { CheckoutResult, RunFailure } from "../runners/protocol.js";

export type TaskState = "queued" | "running" | "inbox" | "done" | "closed";

/** The states in which there is still something to do. */
export const openStates = ["queued", "running", "inbox"] as const satisfies readonly TaskState[];

/** A task as it is read. */
export interface TaskRow {
  readonly id: string;
  readonly teamId: string;
  readonly lineId: string;
  readonly title: string;
  readonly description: string;
  readonly url: string;
  /** Key of the station it stands at. */
  readonly station: string;
  readonly state: TaskState;
  /** User id, or null. */
  readonly assignee: string | null;
  readonly openedBy: { readonly kind: "person"; readonly userId: string };
  readonly marks: Readonly<Record<string, string>>;
  readonly pullRequest: null;
  /** The run under way, or the last one. */
  readonly runId: string | null;
  /** Why it is in the inbox: what is asked of its assignee. */
  readonly asks: string | null;
  /** What went wrong in the last run, with the program's output. */
  readonly failure: RunFailure | null;
  readonly openedAt: string;
  readonly movedAt: string;
}

/** Something that was said on a task. */
export interface TaskNote {
  readonly seq: number;
  readonly at: string;
  /** `station <key>`, `hook <key>`, `person <id>`, `service`. */
  readonly from: string;
  readonly text: string;
}

/** `[task]` */
export const tasks = table<TaskRow>("task");
/** `[team, task]` -> true; ids rise with time. */
export const teamTasks = table<true>("team-task");
/** `[task, seq]` */
export const taskNotes = table<TaskNote>("task-note");
/** `[task, key]`: notes that may be said once only. */
export const noteKeys = table<true>("task-note-once");
/** `[task, repository]`: what the task has changed so far. */
export const taskCheckouts = table<CheckoutResult>("task-checkout");
/** `[task]`: the firings and events behind what was done to it last, oldest first; no row when there are none. */
export const taskCauses = table<readonly string[]>("task-causes");
/** `[task, run]` -> true */
export const taskRuns = table<true>("task-run");

/** What makes a task findable by its id. */
export function taskEntry(workspaceId: string, taskId: string): DirectoryEntry {
  return locationEntry(taskId, { workspaceId, kind: "task" });
}

/** Tasks are found by their ids. */
export const taskSource = rowSource(tasks, ({ id }, { partition }) => [taskEntry(partition, id)]);

/** Notes that a reader or a run is shown, the latest of them. */
const NOTES_SHOWN = 200;

/** The latest notes of a task, oldest first. */
export function listLatestNotes(reading: Reading, workspaceId: string, taskId: string): TaskNote[] {
  return taskNotes.list(reading, workspaceId, [taskId], { reverse: true, limit: NOTES_SHOWN }).reverse();
}

/** What events say of a task, and what caused them. */
export function toEventSubject(reading: Reading, workspaceId: string, task: TaskRow): EventSubject {
  return { task, causes: taskCauses.get(reading, workspaceId, task.id) ?? [] };
}
