import type { Shown } from "../view.js";
import type { attachmentSchema, TaskAttachmentRow } from "./task-attachment.js";

/** Shows an attachment of a task. */
export function attachmentView({
  taskId: _task,
  raise: _raise,
  digest: _digest,
  ...shown
}: TaskAttachmentRow): Shown<typeof attachmentSchema> {
  return shown;
}
