/** A call that waits for leave, or waited for it. */
export interface ApprovalRow {
  readonly id: string;
  readonly runId: string;
  /** What wants to make the call: the agent's harness. */
  readonly kind: "permission";
  /** The id under which the runner asked, which it is answered with. */
  readonly request: string;
  readonly tool: string;
  /** The JSON text of an object. */
  readonly inputs: string;
  /** Why the agent wants it, in its own words; may be empty. */
  readonly reason: string;
  readonly state: "open" | "approved" | "dismissed" | "closed";
  /** The inputs that it was approved with in place of those (JSON text); null for as they were asked. */
  readonly edited: string | null;
  /** Why it was dismissed, if that was said, or closed. */
  readonly note: string | null;
  readonly askedAt: string;
  readonly answeredAt: string | null;
  /** User id; null while it is open, and when it was closed. */
  readonly answeredBy: string | null;
}
