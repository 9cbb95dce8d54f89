import type { Refusal } from "../refusal.js";

/** The refusal when nobody may answer because the task has no assignee. */
export const UNASSIGNED = "The task has no assignee: assign it first.";

/** Refuses everyone but the assignee with a 403; null for the assignee. */
export function refuseNonAssignee({ assignee }: { readonly assignee: string | null }, by: string): Refusal | null {
  if (assignee === by) return null;
  const detail = assignee === null ? UNASSIGNED : "Only the task's assignee can do this.";
  return { refused: "forbidden", title: "Not the assignee of the task", detail };
}
