import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import type { Shown } from "../view.js";
import { type TaskRow, taskItemSchema, taskNoteSchema } from "./task.js";
import { listLatestNotes, taskAttachments } from "./task.table.js";
import { attachmentSchema } from "./task-attachment.js";
import { attachmentView } from "./task-attachment.view.js";
import { taskItemView } from "./task-item.view.js";

/** A task as the API returns it. */
export const taskSchema = taskItemSchema
  .extend({
    attachments: z.array(attachmentSchema).describe("The files that events attached, oldest first."),
    notes: z.array(taskNoteSchema).describe("The latest 200 notes on the task, oldest first."),
  })
  .meta({ title: "task" });

/** Returns the task with its latest notes. */
export function taskView(reading: Reading, workspaceId: string, task: TaskRow): Shown<typeof taskSchema> {
  const notes = listLatestNotes(reading, workspaceId, task.id);
  const attachments = taskAttachments.list(reading, workspaceId, [task.id]).map(attachmentView);
  return { ...taskItemView(reading, workspaceId, task), attachments, notes };
}
