import type { Refusal } from "../refusal.js";

/** Why nobody may answer for a task without an assignee, and what to do about it. */
export const UNASSIGNED = "The task has no assignee: assign it first.";

/** The 403 for anyone but the assignee; null for the assignee. */
export function refuseUnlessAssigneeOf({ assignee }: { readonly assignee: string | null }, by: string): Refusal | null {
  if (assignee === by) return null;
  const detail = assignee === null ? UNASSIGNED : "Only the task's assignee may.";
  return { refused: "forbidden", title: "Not the assignee of the task", detail };
}
