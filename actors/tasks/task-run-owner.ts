import type { RunOwner } from "../runs/run-owner.js";
import { listLatestNotes, tasks, toEventSubject } from "./task.table.js";

/** What the runs of tasks read of their tasks. */
export const taskRunOwner: RunOwner = {
  ...{ kind: "task", hasGate: true, hasHooks: true, handOver: "gate", hasConversation: true, hasApprovals: true },
  assignee: (reading, workspaceId, taskId) => tasks.get(reading, workspaceId, taskId)?.assignee,
  brief: (reading, workspaceId, taskId) => {
    const task = tasks.get(reading, workspaceId, taskId);
    if (task === undefined) return null;
    const { id, title, description, url, marks } = task;
    const notes = listLatestNotes(reading, workspaceId, taskId).map(({ at, from, text }) => ({ at, from, text }));
    return { id, title, description, url, marks, notes };
  },
  eventSubject: (reading, workspaceId, taskId) => {
    const task = tasks.get(reading, workspaceId, taskId);
    return task === undefined ? null : toEventSubject(reading, workspaceId, task);
  },
};
