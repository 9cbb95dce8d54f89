/** The rules that apply before a tool is called. */
export interface ToolRules {
  /** Whether the team requires approval of each call. */
  readonly team: boolean;
  /** Whether the person whose connection the call uses wants to be asked. */
  readonly person: boolean;
}

/**
 * Who approves a call (configuration API, Integration connections and Actions only people can take): the stricter of
 * the two rules wins. When the person wants to be asked, only they may approve, whatever the team's rule; when only the
 * team asks, the task's assignee approves. Null when no approval is needed.
 */
export function findApprover({ team, person }: ToolRules): "person" | "assignee" | null {
  if (person) return "person";
  return team ? "assignee" : null;
}
