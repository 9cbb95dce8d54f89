import type { Reading } from "../../storage/store.js";
import { type ApprovalRow, UNANSWERED } from "../runs/approval.js";
import { approvalView } from "../runs/approval.view.js";
import { timeText } from "../time-text.js";
import { defineView, type Shown } from "../view.js";
import { type InboxItem, type inboxItemDetailSchema, inboxItemSchema } from "./inbox.js";
import type { EndedTaskWait, TaskRow, TaskWait } from "./task.js";
import { taskItemView } from "./task-item.view.js";

/** Returns an item as the inbox lists it. For an item that no longer waits, shows the item's last wait. */
export const inboxItemView = defineView<InboxItem, Reading>()(inboxItemSchema, {
  id: ({ task, approval }) => approval?.id ?? task.id,
  kind: ({ task, approval }) => (approval === null ? waitOf(task).kind : "approval"),
  since: ({ task, approval }) => approval?.askedAt ?? timeText(waitOf(task).sinceMs),
  task: ({ workspaceId, task }, reading) => taskItemView(reading, workspaceId, task),
  runId: ({ task, approval }) => approval?.runId ?? waitOf(task).runId,
  asks: ({ task, approval }) => (approval === null ? waitOf(task).asks : null),
  failure: ({ task, approval }) => (approval === null ? waitOf(task).failure : null),
  approval: ({ approval }) => (approval === null ? null : approvalView(approval)),
});

/** Returns an item together with what ended the item's wait. */
export function inboxItemDetailView(item: InboxItem, reading: Reading): Shown<typeof inboxItemDetailSchema> {
  const { task, approval } = item;
  const gone = approval === null ? toTaskEnd(task) : toApprovalEnd(approval);
  return { ...inboxItemView(item, reading), gone };
}

/**
 * Returns the wait in which the task is now. If the task does not wait, returns its last wait. Throws if the task has
 * never been in the inbox.
 */
function waitOf({
  waits,
  lastWait,
  runId,
  asks,
  failure,
}: TaskRow): TaskWait & Omit<EndedTaskWait, "what" | "by" | "atMs"> {
  if (waits !== undefined) return { ...waits, runId, asks, failure };
  if (lastWait === undefined) throw new Error("a task that never waited for a person");
  return lastWait;
}

type Gone = Shown<typeof inboxItemDetailSchema>["gone"];

function toTaskEnd({ waits, lastWait }: TaskRow): Gone {
  if (waits !== undefined || lastWait === undefined) return null;
  const { by, what, atMs } = lastWait;
  return { by, what, at: timeText(atMs) };
}

function toApprovalEnd({ state, edited, note, answeredBy, answeredAt, askedAt }: ApprovalRow): Gone {
  if (state === "open") return null;
  const at = answeredAt ?? askedAt;
  if (state === "closed") return { by: answeredBy, what: note === UNANSWERED ? "expired" : "closed", at };
  const isEdited = state === "approved" && edited !== null;
  return { by: answeredBy, what: isEdited ? "edited" : state, at };
}
