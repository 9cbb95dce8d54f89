import type { Reading } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";

/** The schedule of an action. The row exists while the definition has the schedule. */
export interface ScheduleRow {
  readonly integrationId: string;
  readonly action: string;
  /** When the action runs next; null during a run. */
  readonly nextAt: string | null;
  /** The id of the active or last run; null before the first run. */
  readonly runId: string | null;
}

/** Key: `[integration, action]`. */
export const schedules = table<ScheduleRow>("schedule");

/** Lists the schedules of an integration, or of the whole workspace if `under` is empty. */
export function listSchedules(reading: Reading, workspaceId: string, under: readonly string[]): ScheduleRow[] {
  return schedules.list(reading, workspaceId, under);
}
