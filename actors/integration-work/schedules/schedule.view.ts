import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import type { VisibleIntegration } from "../../integrations/connection.queries.js";
import { listSchedules } from "./schedule.table.js";

/** The schedule of an action as the integration's run history returns it. */
export const scheduleSchema = z
  .strictObject({
    action: z.string(),
    nextAt: z.string().nullable().describe("When it runs next; null while it runs."),
  })
  .meta({ title: "action-schedule" });

/** Returns the schedules of an integration, at most one per action. */
export function schedulesView(
  reading: Reading,
  { workspaceId, id: integrationId }: Pick<VisibleIntegration, "workspaceId" | "id">,
): z.output<typeof scheduleSchema>[] {
  return listSchedules(reading, workspaceId, [integrationId]).map(({ action, nextAt }) => ({ action, nextAt }));
}
