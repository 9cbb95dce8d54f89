import { type ActorParts, defineArea } from "../area.js";
import { approverLeavingSubscriber } from "./approver-leaving.js";
import { runWithCallsTopicView } from "./run-topic.view.js";
import { toolCallActor } from "./tool-call.machine.js";
import { toolCallsOwned } from "./tool-call.retention.js";
import { toolChangesSubscriber } from "./tool-changes.js";

/** Calls of tools by agents in runs. */
export const toolCallsArea = defineArea({
  name: "tool-calls",
  actors: ({ runOwners }: Pick<ActorParts, "runOwners">) => [toolCallActor(runOwners)],
  tables: toolCallsOwned,
  subscribers: [approverLeavingSubscriber, toolChangesSubscriber],
  topics: () => ({ run: runWithCallsTopicView }),
});
