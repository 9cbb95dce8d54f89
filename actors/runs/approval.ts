/** The source of the rule that requires approval: the tool, the station, or the person whose account the tool uses. */
export type ApprovalRule = "tool" | "station" | "person";

/** A call that needs approval, open or decided. */
export interface ApprovalRow {
  readonly id: string;
  readonly runId: string;
  /** Who asks: the agent's harness (`permission`), or an integration's tool call (`tool-call`). */
  readonly kind: "permission" | "tool-call";
  /** The id of the runner's request, repeated in the answer. Empty for a tool call. */
  readonly request: string;
  /**
   * The person who may answer while the approval is open: the current assignee, or the person who set the rule. Null
   * for nobody.
   */
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
  /** The reason for a dismissal, if one was given, or for the closing. */
  readonly note: string | null;
  readonly askedAt: string;
  readonly answeredAt: string | null;
  /** User id. Null while the approval is open, and after it was closed. */
  readonly answeredBy: string | null;
}
