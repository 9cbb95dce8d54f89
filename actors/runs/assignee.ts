import type { Refusal } from "../refusal.js";

/** The 403 for anyone but the assignee; null for the assignee. */
export function refuseUnlessAssigneeOf({ assignee }: { readonly assignee: string | null }, by: string): Refusal | null {
  if (assignee === by) return null;
  const detail = assignee === null ? "The task has no assignee: assign it first." : "Only the task's assignee may.";
  return { refused: "forbidden", title: "Not the assignee of the task", detail };
}
