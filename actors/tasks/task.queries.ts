import type { Reading } from "../../storage/store.js";
import type { Cursor, Slice } from "../tables/page.js";
import type { TaskRow } from "./task.js";
import { tasks } from "./task.table.js";

/** What a list may be narrowed by; a task has to fit all that is given. */
export interface TaskFilter {
  readonly state?: TaskRow["state"] | undefined;
  readonly lineId?: string | undefined;
  readonly station?: string | undefined;
  /** User id; null for the tasks of nobody. */
  readonly assignee?: string | null | undefined;
}

export interface TaskPage {
  /** Only tasks opened before this one. */
  readonly before?: string | undefined;
  readonly limit: number;
  /** Where the slice before it stopped. */
  readonly cursor: Cursor<TaskRow> | null;
}

/** A slice of the team's tasks that fit, newest first. */
export function listTeamTasks(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  filter: TaskFilter,
  { before, limit, cursor }: TaskPage,
): Slice<TaskRow> {
  const place = before === undefined ? undefined : [before];
  return tasks.page(reading, workspaceId, { ...filter, teamId }, { before: place, limit, cursor });
}
