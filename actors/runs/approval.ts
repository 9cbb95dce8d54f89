import { z } from "zod";
import type { Stored } from "../view.js";

const inputsSchema = z.record(z.string(), z.unknown());

/** A call that needs approval, open or decided, as the API returns it. */
export const approvalSchema = z
  .strictObject({
    id: z.string().describe("The id of the approval (`apr_…`)."),
    runId: z.string().describe("The run whose agent waits for the approval."),
    kind: z
      .enum(["permission", "tool-call"])
      .describe(
        "`permission`: the agent's harness asks for permission. `tool-call`: the agent asks to call a tool of an " +
          "integration.",
      ),
    approver: z.string().nullable().describe("The person who may answer an open approval; null if nobody may."),
    rule: z
      .enum(["tool", "station", "person"])
      .nullable()
      .describe(
        "Whose rule requires approval of the tool call: the tool's, the station's or a person's. With `person`, " +
          "only that person may answer. Null for a permission.",
      ),
    callId: z.string().nullable().describe("The tool call that needs approval; null for a permission."),
    tool: z.string().describe("The tool that the agent wants to call."),
    inputs: inputsSchema.describe("The inputs that the agent wants to call the tool with."),
    reason: z.string().describe("Why the agent wants to make the call; empty if it gave no reason."),
    state: z
      .enum(["open", "approved", "dismissed", "closed"])
      .describe(
        "`open`: waits for an answer. `dismissed`: denied. `closed`: nobody answered before the wait ended, for " +
          "example because the run ended.",
      ),
    edited: inputsSchema.nullable().describe("The inputs that replaced `inputs` on approval; null if unchanged."),
    note: z
      .string()
      .nullable()
      .describe("The reason for a dismissal, if one was given, or for the closing; otherwise null."),
    askedAt: z.string().describe("When the agent asked for the call, as an RFC 3339 time."),
    answeredAt: z.string().nullable().describe("When the approval was answered or closed; null while it is open."),
    answeredBy: z.string().nullable().describe("The person who answered; null if nobody did."),
  })
  .meta({ title: "approval" });

/** The source of the rule that requires approval: the tool, the station, or the person whose account the tool uses. */
export type ApprovalRule = NonNullable<z.output<typeof approvalSchema>["rule"]>;

/** A call that needs approval, open or decided. */
export interface ApprovalRow extends Stored<typeof approvalSchema, "rule" | "callId" | "inputs" | "edited"> {
  /** The id of the runner's request; the service repeats the id in its answer. Empty for a tool call. */
  readonly request: string;
  /** The team of the run. */
  readonly teamId: string;
  /** The source of the approval rule; absent for a permission. */
  readonly rule?: ApprovalRule;
  /** The id of the tool call; absent for a permission. */
  readonly callId?: string;
  /** The inputs of the call: the JSON text of an object. */
  readonly inputs: string;
  /** JSON text of the inputs that replaced `inputs` on approval; null if unchanged. */
  readonly edited: string | null;
}

/** The note of an approval that was closed because nobody answered in time. */
export const UNANSWERED = "Nobody answered.";
