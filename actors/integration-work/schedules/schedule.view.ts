import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import type { VisibleIntegration } from "../../integrations/connection.queries.js";
import { defineView, type Shown } from "../../view.js";
import { listSchedules, type ScheduleRow } from "./schedule.table.js";

/** The schedule of an action as the integration's run history returns it. */
export const scheduleSchema = z
  .strictObject({
    action: z.string().describe("The name of the scheduled action."),
    nextAt: z.string().nullable().describe("When the schedule runs next; null during a run."),
  })
  .meta({ title: "action-schedule" });

const showSchedule = defineView<ScheduleRow>()(scheduleSchema, {});

/** Returns the schedules of an integration, at most one per action. */
export function schedulesView(
  reading: Reading,
  { workspaceId, id: integrationId }: Pick<VisibleIntegration, "workspaceId" | "id">,
): Shown<typeof scheduleSchema>[] {
  return listSchedules(reading, workspaceId, [integrationId]).map(showSchedule);
}
