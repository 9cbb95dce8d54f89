/** A call that needs approval, open or decided. */
export interface ApprovalRow {
  readonly id: string;
  readonly runId: string;
  /** Who asks for the approval: the agent's harness. */
  readonly kind: "permission";
  /** The id of the runner's request; the answer carries it too. */
  readonly request: string;
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
