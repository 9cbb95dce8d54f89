/** What is asked before a tool is called. */
export interface ToolRules {
  /** Whether the team has each call approved. */
  readonly team: boolean;
  /** Whether the person whose connection the call is made with wants to be asked. */
  readonly person: boolean;
}

/**
 * Who approves a call (configuration API, Integration connections and Actions only people can take): the stricter of
 * the two rules wins. Where the person wants to be asked nobody else will do, whatever the team's rule; where the team
 * alone asks, the task's assignee. Null when nobody is asked.
 */
export function findApprover({ team, person }: ToolRules): "person" | "assignee" | null {
  if (person) return "person";
  return team ? "assignee" : null;
}
