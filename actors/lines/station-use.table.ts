import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/**
 * `[line, station, task]`: the stations of open tasks, so that a line knows which stations it may not lose. An index of
 * tasks.
 */
export const openTasks = table<true>("open-task");

/** How many open tasks are on the line, or at one of its stations; counting ends at 1,000. */
export function openTasksAt(reading: Reading, workspaceId: string, lineId: string, stationKey?: string): number {
  const under = stationKey === undefined ? [lineId] : [lineId, stationKey];
  return openTasks.list(reading, workspaceId, under, { limit: 1_000 }).length;
}

/** The ids of every open task of the workspace. */
export function openTaskIds(reading: Reading, workspaceId: string): string[] {
  return openTasks.entries(reading, workspaceId).map(({ key }) => String(key.at(-1)));
}
