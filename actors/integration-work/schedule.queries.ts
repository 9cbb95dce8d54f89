import type { Reading } from "../../storage/store.js";
import type { IntegrationFields } from "../integrations/definition.js";
import { listResources } from "../resources/resource.table.js";
import type { ScheduleKey } from "./schedule.messages.js";

/** The schedules that the definitions of a workspace's integrations have, whether they run or not. */
export function listSetSchedules(reading: Reading, workspaceId: string): readonly ScheduleKey[] {
  return listResources<IntegrationFields>(reading, workspaceId, "integration", {}).flatMap(({ id, fields }) =>
    Object.entries(fields.actions).flatMap(([action, { schedule }]) =>
      schedule === null ? [] : [{ workspaceId, integrationId: id, action }],
    ),
  );
}
