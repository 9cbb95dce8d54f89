import type { Reading } from "../../storage/store.js";
import type { IntegrationFields } from "../integrations/definition.js";
import { listResources } from "../resources/resource.table.js";
import { pollRef } from "./polls/poll.messages.js";
import { scheduleRef } from "./schedules/schedule.messages.js";

/**
 * Lists the poll and schedule actors that the integrations of a workspace define, including actors that have not
 * started yet.
 */
export function listSetWork(reading: Reading, workspaceId: string) {
  return listResources<IntegrationFields>(reading, workspaceId, "integration", {}).map(({ id, fields }) => ({
    poll: fields.poll === null ? null : pollRef(workspaceId, id),
    schedules: Object.entries(fields.actions).flatMap(([action, { schedule }]) =>
      schedule === null ? [] : [scheduleRef({ workspaceId, integrationId: id, action })],
    ),
  }));
}
