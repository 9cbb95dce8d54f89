/** The rules that apply before a tool call. */
export interface ToolRules {
  /** Whether the team requires approval of each call. */
  readonly team: boolean;
  /** Whether the user whose connection the call uses wants to approve each call. */
  readonly person: boolean;
}

/**
 * Returns who approves a call (configuration API, Integration connections and Actions only people can take). The
 * stricter rule wins. If the user's rule applies, only the user may approve, whatever the team's rule; if only the
 * team's rule applies, the task's assignee approves. Null when no approval is needed.
 */
export function findApprover({ team, person }: ToolRules): "person" | "assignee" | null {
  if (person) return "person";
  return team ? "assignee" : null;
}
