import type { DirectoryEntry } from "../../runtime/directories/directory.js";
import { rowSource } from "../../runtime/directories/directory-source.js";
import { toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { EventSubject } from "../events/event-task.js";
import { openTasks } from "../lines/station-use.table.js";
import { locationEntry } from "../resources/resource-location.table.js";
import type { CheckoutResult } from "../runners/protocol.js";
import { waitEntries } from "../runs/wait-index.js";
import { changedMembers } from "../tables/changed-members.js";
import { indexedTable } from "../tables/indexed-table.js";
import { derivedRows } from "../tables/table-declaration.js";
import { digestsOfText } from "../tables/text-blobs.js";
import { EVERYONE, type Titled, titleEntries } from "../tables/title-index.js";
import { openStates, type TaskNote, type TaskRow } from "./task.js";
import type { TaskAttachmentRow } from "./task-attachment.js";
import { attachmentView } from "./task-attachment.view.js";
import { type StreamedTask, streamedTaskView } from "./task-item.view.js";

/**
 * A change of a task, as the streams of the task and its team publish it. It has the task's id, its approvals and the
 * members that changed. For a new task, it has all members.
 */
interface TaskChanged {
  readonly type: "task";
  readonly task: Pick<StreamedTask, "id"> & Partial<StreamedTask>;
}

/** An attachment was added or changed. */
interface AttachmentChanged {
  readonly type: "attachment";
  readonly attachment: ReturnType<typeof attachmentView>;
}

export const taskTopic = topic<TaskChanged | AttachmentChanged | { readonly type: "note"; readonly note: TaskNote }>(
  "task",
);
const teamTopic = topic<TaskChanged>("team");

/** The tasks that wait for a person, the longest wait first (`../runs/wait-index.ts`). */
export const taskWaits = table<string>("task-wait");

/** The titles of tasks, by words (`../tables/title-index.ts`). */
export const taskTitles = table<Titled>("task-title");

/**
 * Key: `[task]`. Ids increase with time. For every pair of list filters, there is an index that begins with the team
 * and the two filtered fields. A page with at most two filters therefore reads only the rows that it returns.
 */
export const tasks = indexedTable<TaskRow>("task", {
  order: ["id"],
  indexes: {
    "team-task": ["teamId"],
    "team-task-by-station": ["teamId", "station", "state"],
    "team-task-by-line": ["teamId", "lineId", "station"],
    "team-task-by-state": ["teamId", "state", "lineId", "station"],
    "team-task-by-assignee-state": ["teamId", "assignee", "state"],
    "team-task-by-assignee-line": ["teamId", "assignee", "lineId"],
    "team-task-by-assignee-station": ["teamId", "assignee", "station"],
    [openTasks.name]: { by: ["lineId", "station"], only: { state: openStates } },
  },
  derived: [
    waitEntries<TaskRow>(taskWaits, ({ id, teamId, assignee, waits }) =>
      waits === undefined ? null : { id, teamId, whom: assignee, sinceMs: waits.sinceMs, runId: "" },
    ),
    titleEntries<TaskRow>(taskTitles, {
      scope: () => EVERYONE,
      titles: ({ id, title, teamId }) => [{ id, kind: "task", title, teamId }],
      isSame: (before, after) => before.title === after.title,
    }),
  ],
  blobs: ({ description }) => digestsOfText(description),
  changes: (task, reading, { workspaceId, first }) => {
    const before = first === null ? null : streamedTaskView(reading, workspaceId, first);
    const after = streamedTaskView(reading, workspaceId, task);
    // Always include the approvals. They are in rows of their own, so `before` and `after` both show the current
    // approvals, and a comparison finds no change.
    const { id, approvals } = after;
    const data: TaskChanged = { type: "task", task: { ...changedMembers(before, after), id, approvals } };
    return [toChangeEntry(taskTopic(task.id), data), toChangeEntry(teamTopic(task.teamId), data)];
  },
});
/** Key: `[task, seq]`. */
export const taskNotes = table<TaskNote>("task-note");
/** Key: `[task, key]`. The keys of notes that are added only once. */
export const noteKeys = table<true>("task-note-once");
/** The changes of a task in one repository. */
export interface TaskCheckoutRow extends Omit<CheckoutResult, "diff" | "own"> {
  readonly taskId: string;
  /** Digest of the diff against `base`; null if nothing changed. */
  readonly digest: string | null;
}

/** Key: `[task, repository]`. */
export const taskCheckouts = indexedTable<TaskCheckoutRow>("task-checkout", {
  under: ["taskId"],
  order: ["repository"],
  blobs: ({ digest }) => [digest ?? []].flat(),
});
/** Key: `[attachment]`. Value: the attachment's task. */
const attachmentTasks = table<string>("attachment-task");
/** Key: `[task, id]`. The files of a task. Ids increase with time. */
export const taskAttachments = indexedTable<TaskAttachmentRow>("task-attachment", {
  under: ["taskId"],
  order: ["id"],
  derived: [derivedRows(attachmentTasks, ({ id, taskId }) => [[[id], taskId]])],
  blobs: ({ digest }) => [digest ?? []].flat(),
  changes: (row) => [toChangeEntry(taskTopic(row.taskId), { type: "attachment", attachment: attachmentView(row) })],
});
/**
 * Key: `[task]`. Value: the hook occurrences and events that caused the task's last change, oldest first. Without
 * causes there is no row.
 */
export const taskCauses = table<readonly string[]>("task-causes");

/** The directory entry that locates a task by its id. */
export function taskEntry(workspaceId: string, taskId: string): DirectoryEntry {
  return locationEntry(taskId, { workspaceId, kind: "task" });
}

/** The directory entries that locate tasks by id. */
export const taskSource = rowSource(tasks, ({ id }, { partition }) => [taskEntry(partition, id)]);

/** Maximum number of notes that a reader or a run gets. These are the latest notes. */
const NOTES_SHOWN = 200;

/** Lists the latest notes of a task, oldest first. */
export function listLatestNotes(reading: Reading, workspaceId: string, taskId: string): TaskNote[] {
  return taskNotes.list(reading, workspaceId, [taskId], { reverse: true, limit: NOTES_SHOWN }).reverse();
}

/** Returns the task as events show it, with the causes of its last change. */
export function toEventSubject(reading: Reading, workspaceId: string, task: TaskRow): EventSubject {
  return { task, causes: taskCauses.get(reading, workspaceId, task.id) ?? [] };
}

/** Finds the task of the attachment with this id; undefined if there is none. */
export function findTaskOfAttachment(reading: Reading, workspaceId: string, attachmentId: string): string | undefined {
  return attachmentTasks.get(reading, workspaceId, attachmentId);
}
