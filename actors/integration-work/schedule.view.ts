import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import type { VisibleIntegration } from "../integrations/connection.queries.js";
import { listSchedules } from "./schedule.table.js";

/** The schedule of an action as the history of an integration's runs shows it. */
export const scheduleSchema = z
  .strictObject({
    action: z.string(),
    nextAt: z.string().nullable().describe("When it runs next; null while it runs."),
  })
  .meta({ title: "action-schedule" });

/** The schedules of an integration, at most one an action. */
export function schedulesView(
  reading: Reading,
  { workspaceId, id: integrationId }: Pick<VisibleIntegration, "workspaceId" | "id">,
): z.output<typeof scheduleSchema>[] {
  return listSchedules(reading, workspaceId, [integrationId]).map(({ action, nextAt }) => ({ action, nextAt }));
}
