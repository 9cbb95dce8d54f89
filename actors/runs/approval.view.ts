import { z } from "zod";
import { parseInputs } from "../runners/call-inputs.js";
import type { ApprovalRow } from "./approval.js";

const inputsSchema = z.record(z.string(), z.unknown());

/** A call that waits for leave, or waited for it, as it is read. */
export const approvalSchema = z
  .strictObject({
    id: z.string(),
    runId: z.string(),
    /** `permission`: the agent's harness asks. */
    kind: z.literal("permission"),
    tool: z.string(),
    /** What it would be called with, as the agent asked. */
    inputs: inputsSchema,
    reason: z.string(),
    /** `closed`: the run ended, or was told to, before anybody answered. */
    state: z.enum(["open", "approved", "dismissed", "closed"]),
    /** What it was approved with in place of `inputs`; null for as it was asked. */
    edited: inputsSchema.nullable(),
    /** Why it was dismissed, if that was said, or closed. */
    note: z.string().nullable(),
    askedAt: z.string(),
    answeredAt: z.string().nullable(),
    /** The person who answered. */
    answeredBy: z.string().nullable(),
  })
  .meta({ title: "approval" });

export function approvalView({
  request: _request,
  inputs,
  edited,
  ...shown
}: ApprovalRow): z.output<typeof approvalSchema> {
  return { ...shown, inputs: { ...parseInputs(inputs) }, edited: edited === null ? null : { ...parseInputs(edited) } };
}
