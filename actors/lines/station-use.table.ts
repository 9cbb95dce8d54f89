import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** `[line, station, task]`: the stations of open tasks, so that a line knows which stations it may not lose. */
const openTasks = table<true>("open-task");

/** How many open tasks are on the line, or at one of its stations; counting ends at 1,000. */
export function openTasksAt(reading: Reading, workspaceId: string, lineId: string, stationKey?: string): number {
  const under = stationKey === undefined ? [lineId] : [lineId, stationKey];
  return openTasks.list(reading, workspaceId, under, { limit: 1_000 }).length;
}

/** The ids of every open task of the workspace. */
export function openTaskIds(reading: Reading, workspaceId: string): string[] {
  return openTasks.entries(reading, workspaceId).map(({ key }) => String(key.at(-1)));
}

/** Records that an open task is at a station. */
export function enterStation(
  writing: Writing,
  workspaceId: string,
  at: { readonly lineId: string; readonly stationKey: string; readonly taskId: string },
): void {
  openTasks.put(writing, workspaceId, [at.lineId, at.stationKey, at.taskId], true);
}

/** Records that it is not there any more. */
export function leaveStation(
  writing: Writing,
  workspaceId: string,
  at: { readonly lineId: string; readonly stationKey: string; readonly taskId: string },
): void {
  openTasks.remove(writing, workspaceId, at.lineId, at.stationKey, at.taskId);
}
