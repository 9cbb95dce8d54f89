import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/**
 * Key: `[line, station, task]`. Value: true. The open tasks of each station. A line may not remove a station that has
 * open tasks.
 */
export const openTasks = table<true>("open-task");

/** Counts the open tasks of the line, or of one of its stations. The count stops at 1,000. */
export function openTasksAt(reading: Reading, workspaceId: string, lineId: string, stationKey?: string): number {
  const under = stationKey === undefined ? [lineId] : [lineId, stationKey];
  return openTasks.list(reading, workspaceId, under, { limit: 1_000 }).length;
}

/** Lists the ids of all open tasks of the workspace. */
export function openTaskIds(reading: Reading, workspaceId: string): string[] {
  return openTasks.entries(reading, workspaceId).map(({ key }) => String(key.at(-1)));
}
