import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import type { TaskRow } from "./task.js";
import { listLatestNotes } from "./task.table.js";
import { taskItemSchema, taskItemView } from "./task-item.view.js";

/** A task as the API returns it. */
export const taskSchema = taskItemSchema
  .extend({ notes: z.array(z.strictObject({ seq: z.int(), at: z.string(), from: z.string(), text: z.string() })) })
  .meta({ title: "task" });

/** The task with its latest notes. */
export function taskView(reading: Reading, workspaceId: string, task: TaskRow): z.output<typeof taskSchema> {
  const notes = listLatestNotes(reading, workspaceId, task.id).map((note) => ({ ...note }));
  return { ...taskItemView(reading, workspaceId, task), notes };
}
