import type { Subscriber } from "../../runtime/cells/actor-type.js";
import type { ResourceChanged } from "../resources/resource.messages.js";
import { approvals } from "../runs/approval.table.js";
import { toolCallRef } from "./tool-call.messages.js";
import { toolCalls } from "./tool-call.table.js";

/**
 * Ends the calls that wait for the approval of a tool that its integration no longer offers, because nobody can approve
 * them.
 */
export const toolChangesSubscriber: Subscriber<ResourceChanged<"integration">> = {
  name: "tool calls lose a tool that was removed",
  facts: ["integration.changed"],
  handle({ id }, turn) {
    const workspaceId = turn.self.partition;
    for (const { callId, runId } of approvals.all(turn, workspaceId, { state: "open" })) {
      const call = callId === undefined ? undefined : toolCalls.get(turn, workspaceId, runId, callId);
      if (call?.integrationId !== id) continue;
      turn.send(toolCallRef(workspaceId, call.id), { type: "call.tool-changed", runId });
    }
  },
};
