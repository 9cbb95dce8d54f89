import type { RunOwner } from "../runs/run-owner.js";
import { listLatestNotes, tasks, toEventSubject } from "./task.table.js";

/** Tasks as owners of runs. */
export const taskRunOwner: RunOwner = {
  ...{
    kind: "task",
    hearsClaims: false,
    hasGate: true,
    hasHooks: true,
    handOver: "gate",
    hasConversation: true,
    hasApprovals: true,
  },
  assignee: (reading, workspaceId, { owner }) => tasks.get(reading, workspaceId, owner.id)?.assignee,
  brief: (reading, workspaceId, { owner }) => {
    const task = tasks.get(reading, workspaceId, owner.id);
    if (task === undefined) throw new Error("a run of a task that is not there");
    const { id, title, description, url, marks } = task;
    const notes = listLatestNotes(reading, workspaceId, id).map(({ at, from, text }) => ({ at, from, text }));
    return { id, title, description, url, marks, notes };
  },
  opener: (reading, workspaceId, { owner }) => tasks.get(reading, workspaceId, owner.id)?.openedBy ?? null,
  eventSubject: (reading, workspaceId, { owner }) => {
    const task = tasks.get(reading, workspaceId, owner.id);
    return task === undefined ? null : toEventSubject(reading, workspaceId, task);
  },
};
