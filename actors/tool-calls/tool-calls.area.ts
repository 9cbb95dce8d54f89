import type { Subscriber } from "../../runtime/cells/actor-type.js";
import { type ActorParts, defineArea } from "../area.js";
import type { ResourceChanged } from "../resources/resource.messages.js";
import { approvals } from "../runs/approval.table.js";
import type { MemberLeft } from "../workspaces/membership.transitions.js";
import { runWithCallsTopicView } from "./run-topic.view.js";
import { toolCallActor } from "./tool-call.machine.js";
import { toolCallRef } from "./tool-call.messages.js";
import { toolCalls, toolCallsOwned } from "./tool-call.table.js";

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

/**
 * Ends the calls that wait for an approval if their integration no longer offers the tool, because nobody can approve
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

/** Calls of tools by agents in runs. */
export const toolCallsArea = defineArea({
  name: "tool-calls",
  actors: ({ runOwners }: Pick<ActorParts, "runOwners">) => [toolCallActor(runOwners)],
  tables: toolCallsOwned,
  subscribers: [approverLeavingSubscriber, toolChangesSubscriber],
  topics: () => ({ run: runWithCallsTopicView }),
});
