import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { failureSchema } from "../runners/protocol.js";
import { lineOf } from "./event-task.js";
import { latestNotes, type TaskRow } from "./task-rows.js";

/** A task as it is read. */
export const taskSchema = z
  .strictObject({
    id: z.string(),
    title: z.string(),
    description: z.string(),
    url: z.string(),
    teamId: z.string(),
    lineId: z.string(),
    line: z.string(),
    station: z.string(),
    state: z.enum(["queued", "running", "inbox", "done", "closed"]),
    assignee: z.string().nullable(),
    openedBy: z.strictObject({ kind: z.literal("person"), userId: z.string() }),
    marks: z.record(z.string(), z.string()),
    pullRequest: z.null(),
    runId: z.string().nullable(),
    asks: z.string().nullable(),
    failure: failureSchema.nullable(),
    notes: z.array(z.strictObject({ seq: z.int(), at: z.string(), from: z.string(), text: z.string() })),
    openedAt: z.string(),
    movedAt: z.string(),
  })
  .meta({ title: "task" });

export type TaskView = z.output<typeof taskSchema>;

export function taskView(reading: Reading, workspaceId: string, task: TaskRow): TaskView {
  const notes = latestNotes(reading, workspaceId, task.id);
  const line = lineOf(reading, workspaceId, task.lineId)?.key ?? "";
  return { ...task, marks: { ...task.marks }, line, notes: notes.map((note) => ({ ...note })) };
}
