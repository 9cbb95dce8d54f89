import type { Reading } from "../../storage/store.js";
import type { RunBrief, RunOwner } from "../runs/run-owner.js";
import { listLatestNotes, taskAttachments, tasks, toEventSubject } from "./task.table.js";

/** Implements the run owner interface for tasks. */
export const taskRunOwner: RunOwner = {
  kind: "task",
  hearsClaims: false,
  hasGate: true,
  hasHooks: true,
  handOver: "gate",
  hasConversation: true,
  hasApprovals: true,
  assignee: (reading, workspaceId, { owner }) => tasks.get(reading, workspaceId, owner.id)?.assignee,
  brief: (reading, workspaceId, { owner }) => {
    const task = tasks.get(reading, workspaceId, owner.id);
    if (task === undefined) throw new Error("a run of a task that is not there");
    const { id, title, description, url, marks, reviews: review } = task;
    const notes = listLatestNotes(reading, workspaceId, id).map(({ at, from, text }) => ({ at, from, text }));
    return {
      id,
      title,
      description,
      url,
      marks,
      notes,
      ...(review && { review }),
      ...listStoredFiles(reading, workspaceId, id),
    };
  },
  opener: (reading, workspaceId, { owner }) => tasks.get(reading, workspaceId, owner.id)?.openedBy ?? null,
  eventSubject: (reading, workspaceId, { owner }) => {
    const task = tasks.get(reading, workspaceId, owner.id);
    return task === undefined ? null : toEventSubject(reading, workspaceId, task);
  },
};

function listStoredFiles(reading: Reading, workspaceId: string, taskId: string): Pick<RunBrief, "attachments"> {
  const attachments = taskAttachments
    .list(reading, workspaceId, [taskId])
    .flatMap(({ id, name, type, bytes, digest }) => {
      return bytes === null || digest === null ? [] : [{ id, name, type, bytes, digest }];
    });
  return attachments.length === 0 ? {} : { attachments };
}
