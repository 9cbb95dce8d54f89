import { z } from "zod";
import type { Stored } from "../view.js";

const inputsSchema = z.record(z.string(), z.unknown());

/** A call that needs approval, open or decided, as the API returns it. */
export const approvalSchema = z
  .strictObject({
    id: z.string(),
    runId: z.string(),
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
    tool: z.string(),
    /** The inputs that the agent asked for. */
    inputs: inputsSchema,
    reason: z.string(),
    /** `closed`: nobody answered before the wait ended, for example because the run ended. */
    state: z.enum(["open", "approved", "dismissed", "closed"]),
    /** The inputs that replaced `inputs` on approval; null when unchanged. */
    edited: inputsSchema.nullable(),
    /** The reason for a dismissal, if one was given, or for the closing. */
    note: z.string().nullable(),
    askedAt: z.string(),
    answeredAt: z.string().nullable(),
    /** The person who answered. */
    answeredBy: z.string().nullable(),
  })
  .meta({ title: "approval" });

/** The source of the rule that requires approval: the tool, the station, or the person whose account the tool uses. */
export type ApprovalRule = NonNullable<z.output<typeof approvalSchema>["rule"]>;

/** A call that needs approval, open or decided. */
export interface ApprovalRow extends Stored<typeof approvalSchema, "rule" | "callId" | "inputs" | "edited"> {
  /** The id of the runner's request, repeated in the answer. Empty for a tool call. */
  readonly request: string;
  /** The team of the run. */
  readonly teamId: string;
  /** Absent for a permission. */
  readonly rule?: ApprovalRule;
  /** Absent for a permission. */
  readonly callId?: string;
  /** The JSON text of an object. */
  readonly inputs: string;
  /** JSON text. */
  readonly edited: string | null;
}

/** The note of an approval that was closed because nobody answered in time. */
export const UNANSWERED = "Nobody answered.";
