import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import type { TaskRow } from "./task.js";
import { listLatestNotes, taskAttachments } from "./task.table.js";
import { attachmentSchema, attachmentView } from "./task-attachment.view.js";
import { taskItemSchema, taskItemView } from "./task-item.view.js";

/** A task as the API returns it. */
export const taskSchema = taskItemSchema
  .extend({
    /** The files that events attached, oldest first. */
    attachments: z.array(attachmentSchema),
    notes: z.array(z.strictObject({ seq: z.int(), at: z.string(), from: z.string(), text: z.string() })),
  })
  .meta({ title: "task" });

/** Returns the task with its latest notes. */
export function taskView(reading: Reading, workspaceId: string, task: TaskRow): z.output<typeof taskSchema> {
  const notes = listLatestNotes(reading, workspaceId, task.id).map((note) => ({ ...note }));
  const attachments = taskAttachments.list(reading, workspaceId, [task.id]).map(attachmentView);
  return { ...taskItemView(reading, workspaceId, task), attachments, notes };
}
