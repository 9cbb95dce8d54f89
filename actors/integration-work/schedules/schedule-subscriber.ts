import type { Subscriber } from "../../../runtime/cells/actor-type.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import type { ResourceChanged } from "../../resources/resource.messages.js";
import { findResource } from "../../resources/resource.table.js";
import type { WorkspaceClosed } from "../../workspaces/workspace.machine.js";
import { scheduleRef } from "./schedule.messages.js";
import { listSchedules } from "./schedule.table.js";

/** Starts, updates and ends schedules when their integrations change or the workspace closes. */
export const scheduleSubscriber: Subscriber<ResourceChanged<"integration"> | WorkspaceClosed> = {
  name: "schedules follow their integrations",
  facts: ["integration.changed", "workspace.closed"],
  handle(fact, turn) {
    const { partition: workspaceId } = turn.self;
    if (fact.name === "workspace.closed") {
      for (const { integrationId, action } of listSchedules(turn, workspaceId, []))
        turn.send(scheduleRef({ workspaceId, integrationId, action }), { type: "schedule.check" });
      return;
    }
    const integrationId = fact.id;
    const fields = findResource<IntegrationFields>(turn, workspaceId, "integration", integrationId)?.fields;
    const set = Object.entries(fields?.actions ?? {}).flatMap(([action, { schedule }]) =>
      schedule === null ? [] : [action],
    );
    const stored = listSchedules(turn, workspaceId, [integrationId]).map(({ action }) => action);
    for (const action of new Set([...set, ...stored]))
      turn.send(scheduleRef({ workspaceId, integrationId, action }), { type: "schedule.check" });
  },
};
