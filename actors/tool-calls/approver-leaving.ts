import type { Subscriber } from "../../runtime/cells/actor-type.js";
import { approvals } from "../runs/approval.table.js";
import type { MemberLeft } from "../workspaces/membership.transitions.js";
import { toolCallRef } from "./tool-call.messages.js";
import { toolCalls } from "./tool-call.table.js";

/**
 * Ends the calls that wait for the approval of a person who left. The person's own rule requires this approval, so
 * nobody else may answer.
 */
export const approverLeavingSubscriber: Subscriber<MemberLeft> = {
  name: "tool calls lose an approver who left",
  facts: ["member.left"],
  handle({ userId, teamId }, turn) {
    const workspaceId = turn.self.partition;
    for (const { rule, callId, runId } of approvals.all(turn, workspaceId, { approver: userId, state: "open" })) {
      if (rule !== "person" || callId === undefined) continue;
      const call = toolCalls.get(turn, workspaceId, runId, callId);
      if (call === undefined || (teamId !== null && call.teamId !== teamId)) continue;
      turn.send(toolCallRef(workspaceId, callId), { type: "call.approver-left", runId });
    }
  },
};
