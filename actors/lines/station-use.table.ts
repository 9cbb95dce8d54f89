import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** `[line, station, task]`: where open tasks stand, so that a line knows what it may not lose. */
const openTasks = table<true>("open-task");

/** How many open tasks stand on the line, or at one of its stations; counting ends at 1,000. */
export function openTasksAt(reading: Reading, workspaceId: string, lineId: string, stationKey?: string): number {
  const under = stationKey === undefined ? [lineId] : [lineId, stationKey];
  return openTasks.list(reading, workspaceId, under, { limit: 1_000 }).length;
}

/** The ids of every open task of the workspace. */
export function openTaskIds(reading: Reading, workspaceId: string): string[] {
  return openTasks.entries(reading, workspaceId).map(({ key }) => String(key.at(-1)));
}

/** Notes that an open task stands at a station. */
export function enterStation(
  writing: Writing,
  workspaceId: string,
  at: { readonly lineId: string; readonly stationKey: string; readonly taskId: string },
): void {
  openTasks.put(writing, workspaceId, [at.lineId, at.stationKey, at.taskId], true);
}

/** Notes that it stands there no longer. */
export function leaveStation(
  writing: Writing,
  workspaceId: string,
  at: { readonly lineId: string; readonly stationKey: string; readonly taskId: string },
): void {
  openTasks.remove(writing, workspaceId, at.lineId, at.stationKey, at.taskId);
}
