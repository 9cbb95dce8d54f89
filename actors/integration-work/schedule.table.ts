import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** The schedule of an action, as long as the definition has it. */
export interface ScheduleRow {
  readonly integrationId: string;
  readonly action: string;
  /** When it runs next; null while it runs. */
  readonly nextAt: string | null;
  /** The run under way, or the last one; null before the first. */
  readonly runId: string | null;
}

/** `[integration, action]` */
export const schedules = table<ScheduleRow>("schedule");

/** The schedules of an integration, or of all of the workspace when none is named. */
export function listSchedules(reading: Reading, workspaceId: string, under: readonly string[]): ScheduleRow[] {
  return schedules.list(reading, workspaceId, under);
}
