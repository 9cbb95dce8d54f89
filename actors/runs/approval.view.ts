import { parseInputs } from "../runners/call-inputs.js";
import type { Shown } from "../view.js";
import type { ApprovalRow, approvalSchema } from "./approval.js";

export function approvalView(row: ApprovalRow): Shown<typeof approvalSchema> {
  const { request: _request, teamId: _teamId, inputs, edited, rule, callId, ...fields } = row;
  return {
    ...fields,
    rule: rule ?? null,
    callId: callId ?? null,
    inputs: { ...parseInputs(inputs) },
    edited: edited === null ? null : { ...parseInputs(edited) },
  };
}
