import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/team.queries.js";
import { refuseTeamWork } from "../access/team-work.js";
import { permit, seesOutcomes } from "../access/visibility.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findResourceAt, listAddresses } from "../resources/resource.table.js";
import { findWorkspaceOf } from "../resources/resource-location.table.js";
import type { RunRow } from "../runs/run.js";
import { runs } from "../runs/run.table.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import { getPrunedBefore } from "../tables/pruned-before.js";
import type { TaskRow } from "./task.js";
import { tasks } from "./task.table.js";

/** Filters of a list; a task has to match all that are given. */
export interface TaskFilter {
  readonly state?: TaskRow["state"] | undefined;
  readonly lineId?: string | undefined;
  readonly station?: string | undefined;
  /** User id; null for tasks without an assignee. */
  readonly assignee?: string | null | undefined;
}

/** Filters of a list, as clients give them. */
export interface WantedTasks extends Pick<TaskFilter, "state" | "station"> {
  /** The line's key. */
  readonly line?: string | undefined;
  /** User id, or `none` for unassigned tasks. */
  readonly assignee?: string | undefined;
}

/** Converts a client's filters; null when the line does not exist, so that no task matches. */
export function findTaskFilter(
  reading: Reading,
  { workspaceId, teamKey }: VisibleTeam,
  { line, assignee, state, station }: WantedTasks,
): TaskFilter | null {
  const rest = { state, station, assignee: assignee === "none" ? null : assignee };
  if (line === undefined) return rest;
  const lineId = findResourceAt(reading, workspaceId, "line", `${teamKey}/${line}`)?.id;
  return lineId === undefined ? null : { ...rest, lineId };
}

export interface TaskPage {
  /** Only tasks opened before this one. */
  readonly before?: string | undefined;
  readonly limit: number;
  /** Where the previous slice stopped. */
  readonly cursor: Cursor<TaskRow> | null;
}

/** A slice of the team's tasks that match, newest first. */
export function listTeamTasks(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  filter: TaskFilter,
  { before, limit, cursor }: TaskPage,
): Slice<TaskRow> {
  const place = before === undefined ? undefined : [before];
  return tasks.page(reading, workspaceId, { ...filter, teamId }, { before: place, limit, cursor });
}

/** A task that a caller sees. */
export interface VisibleTask {
  readonly workspaceId: string;
  readonly task: TaskRow;
}

/** The task; refused `not-found` unless the caller sees its workspace. */
export function findVisibleTask(reading: Reading, caller: Caller, taskId: string): VisibleTask | Refusal {
  const workspaceId = findWorkspaceOf(reading, "task", taskId);
  if (workspaceId === undefined) return { refused: "not-found" };
  const refused = permit(reading, caller, workspaceId, "read", "team");
  if (refused !== null) return refused;
  const task = tasks.get(reading, workspaceId, taskId);
  if (task === undefined) expectNotListed(reading, workspaceId, taskId);
  return task === undefined ? { refused: "not-found" } : { workspaceId, task };
}

const findTeamTask = tasks.listed("team-task");

/** Throws `damaged` when a team's list names the task, which has no row. */
function expectNotListed(reading: Reading, workspaceId: string, taskId: string): void {
  for (const { id: teamId } of listAddresses(reading, workspaceId, "team", {})) {
    findTeamTask(reading, workspaceId, teamId, taskId);
  }
}

/** The task, for people on its team; refused `forbidden` to others who see it. */
export function findTaskToWorkOn(reading: Reading, caller: Caller, taskId: string): VisibleTask | Refusal {
  const found = findVisibleTask(reading, caller, taskId);
  if (isRefusal(found)) return found;
  const { workspaceId, task } = found;
  return refuseTeamWork(reading, caller, { workspaceId, teamId: task.teamId }) ?? found;
}

/** The task, for callers who may read its team's outcomes; `not-found` for others. */
export function findTaskOfOutcomes(reading: Reading, caller: Caller, taskId: string): VisibleTask | Refusal {
  const found = findVisibleTask(reading, caller, taskId);
  if (isRefusal(found)) return found;
  const { workspaceId, task } = found;
  return seesOutcomes(reading, caller, workspaceId, task.teamId) ? found : { refused: "not-found" };
}

/** The task as it is now. */
export function getTaskNow(reading: Reading, { workspaceId, task }: VisibleTask): TaskRow {
  return tasks.get(reading, workspaceId, task.id) ?? task;
}

/** The runs of a task, newest first; only those before `before` if it is given. */
export function listTaskRuns(
  reading: Reading,
  { workspaceId, task }: VisibleTask,
  { before, limit }: { readonly before?: string | undefined; readonly limit: number },
): RunRow[] {
  const place = before === undefined ? undefined : [before];
  return runs.all(reading, workspaceId, { taskId: task.id }, { before: place, limit });
}

/** Tasks that ended before this time are not stored any more; null when none was removed. */
export function tasksPrunedBefore(reading: Reading, workspaceId: string, nowMs: number): string | null {
  return getPrunedBefore(reading, workspaceId, { name: tasks.name, nowMs });
}
