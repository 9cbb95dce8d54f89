import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { type TaskRow, tasks, teamTasks } from "./task.table.js";

/**
 * Which tasks of a team have a state, a line, a station, an assignee, and any of these together: one row for each
 * combination, so that a page reads what it shows and nothing else, however many tasks there are.
 */

/** `[team, filter, task]` -> true; ids rise with time. */
const tasksBy = table<true>("team-task-by");

/** What a list may be narrowed by; a task has to fit all that is given. */
export interface TaskFilter {
  readonly state?: TaskRow["state"] | undefined;
  readonly lineId?: string | undefined;
  readonly station?: string | undefined;
  /** User id; null for the tasks of nobody. */
  readonly assignee?: string | null | undefined;
}

type Facet = keyof TaskFilter;

const facets: readonly Facet[] = ["state", "lineId", "station", "assignee"];
const combinations: readonly (readonly Facet[])[] = combinationsOf(facets).filter((chosen) => chosen.length > 0);

/** Writes a task with everything lists find it by. */
export function putTask(writing: Writing, workspaceId: string, task: TaskRow): void {
  const before = tasks.get(writing, workspaceId, task.id);
  tasks.put(writing, workspaceId, task.id, task);
  if (before === undefined) teamTasks.put(writing, workspaceId, [task.teamId, task.id], true);
  for (const chosen of combinations) {
    const filter = filterKey(task, chosen);
    const was = before === undefined ? null : filterKey(before, chosen);
    if (was === filter) continue;
    if (was !== null) tasksBy.remove(writing, workspaceId, task.teamId, was, task.id);
    tasksBy.put(writing, workspaceId, [task.teamId, filter, task.id], true);
  }
}

export interface TaskPage {
  /** Only tasks opened before this one. */
  readonly before?: string | undefined;
  /** All of them when it is not given. */
  readonly limit?: number;
}

/** The team's tasks that fit, newest first. */
export function listTeamTasks(
  reading: Reading,
  at: { readonly workspaceId: string; readonly teamId: string },
  filter: TaskFilter,
  { before, limit }: TaskPage,
): TaskRow[] {
  const { workspaceId, teamId } = at;
  const chosen = facets.filter((facet) => filter[facet] !== undefined);
  const index = chosen.length === 0 ? teamTasks : tasksBy;
  const under = chosen.length === 0 ? [teamId] : [teamId, filterKey(filter, chosen)];
  const page = {
    reverse: true,
    ...(limit === undefined ? {} : { limit }),
    ...(before === undefined ? {} : { before: [...under, before] }),
  };
  return index
    .entries(reading, workspaceId, under, page)
    .flatMap(({ key }) => tasks.get(reading, workspaceId, String(key.at(-1))) ?? []);
}

function filterKey(of: TaskFilter, chosen: readonly Facet[]): string {
  return JSON.stringify(chosen.map((facet) => [facet, of[facet]]));
}

function combinationsOf(all: readonly Facet[]): Facet[][] {
  return all.reduce<Facet[][]>((before, facet) => before.flatMap((chosen) => [chosen, [...chosen, facet]]), [[]]);
}
