import { z } from "zod";
import { attachmentStates, type TaskAttachmentRow } from "./task-attachment.js";

/** An attachment of a task in reads and streams. */
export const attachmentSchema = z
  .strictObject({
    id: z.string(),
    /** A file name, unique in the task. */
    name: z.string(),
    /** The media type that the event or the host reported. */
    type: z.string(),
    state: z.enum(attachmentStates),
    /** The reason why the fetch failed; null in other states. */
    reason: z.string().nullable(),
    /** Null until the file is stored. */
    bytes: z.int().nullable(),
    at: z.string(),
  })
  .meta({ title: "attachment of a task" });

export function attachmentView({
  taskId: _task,
  raise: _raise,
  digest: _digest,
  ...shown
}: TaskAttachmentRow): z.output<typeof attachmentSchema> {
  return shown;
}
