import { z } from "zod";
import { attachmentStates, type TaskAttachmentRow } from "./task-attachment.js";

/** An attachment of a task as reads and streams show it. */
export const attachmentSchema = z
  .strictObject({
    id: z.string(),
    /** A file name, unique in its task. */
    name: z.string(),
    /** Its media type, as the event or the host says it. */
    type: z.string(),
    state: z.enum(attachmentStates),
    /** Why it could not be fetched; null unless it failed. */
    reason: z.string().nullable(),
    /** Null until it is stored. */
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
