/** The approval rules for a tool call. */
export interface ToolRules {
  /** Whether the team requires approval of each call. */
  readonly team: boolean;
  /** Whether the user whose connection the call uses wants to approve each call. */
  readonly person: boolean;
}

/**
 * Returns who approves a call; null if nobody has to. If the user's rule requires approval, only the user may approve,
 * whatever the team's rule is. If only the team's rule requires approval, the task's assignee approves.
 */
export function findApprover({ team, person }: ToolRules): "person" | "assignee" | null {
  if (person) return "person";
  return team ? "assignee" : null;
}
