/** Whose rule asks for the approval of a tool call: the tool's, the station's, or the person's whose account it uses. */
export type ApprovalRule = "tool" | "station" | "person";

/** A call that needs approval, open or decided. */
export interface ApprovalRow {
  readonly id: string;
  readonly runId: string;
  /** What asks: the agent's harness, or the call of an integration's tool. */
  readonly kind: "permission" | "tool-call";
  /** The id of the runner's request, which the answer carries too; empty for a tool call. */
  readonly request: string;
  /** Who may answer while it is open: the assignee as it is now, or the person of the rule; null for nobody. */
  readonly approver: string | null;
  /** Absent for a permission. */
  readonly rule?: ApprovalRule;
  /** The id of the tool call; absent for a permission. */
  readonly callId?: string;
  readonly tool: string;
  /** The JSON text of an object. */
  readonly inputs: string;
  /** The agent's reason in its own words; may be empty. */
  readonly reason: string;
  readonly state: "open" | "approved" | "dismissed" | "closed";
  /** The inputs that replaced `inputs` on approval (JSON text); null when unchanged. */
  readonly edited: string | null;
  /** Why it was dismissed (if a reason was given) or closed. */
  readonly note: string | null;
  readonly askedAt: string;
  readonly answeredAt: string | null;
  /** User id; null while it is open, and when it was closed. */
  readonly answeredBy: string | null;
}
