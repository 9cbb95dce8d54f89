import { z } from "zod";
import { parseInputs } from "../runners/call-inputs.js";
import type { ApprovalRow } from "./approval.js";

const inputsSchema = z.record(z.string(), z.unknown());

/** A call that needs approval, open or decided, as the API returns it. */
export const approvalSchema = z
  .strictObject({
    id: z.string(),
    runId: z.string(),
    kind: z
      .enum(["permission", "tool-call"])
      .describe("`permission`: the agent's harness asks. `tool-call`: an integration's tool is to be called."),
    approver: z.string().nullable().describe("The person who may answer while it is open; null for nobody."),
    rule: z
      .enum(["tool", "station", "person"])
      .nullable()
      .describe("Whose rule asks for the approval of a tool call; with `person` only that person may answer."),
    callId: z.string().nullable().describe("The tool call; null for a permission."),
    tool: z.string(),
    /** The inputs that the agent asked for. */
    inputs: inputsSchema,
    reason: z.string(),
    /** `closed`: the run ended, or received a stop request, before anybody answered. */
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

export function approvalView(row: ApprovalRow): z.output<typeof approvalSchema> {
  const { request: _request, inputs, edited, rule, callId, ...fields } = row;
  return {
    ...fields,
    rule: rule ?? null,
    callId: callId ?? null,
    inputs: { ...parseInputs(inputs) },
    edited: edited === null ? null : { ...parseInputs(edited) },
  };
}
