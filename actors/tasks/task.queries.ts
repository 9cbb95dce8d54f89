import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/members/team.queries.js";
import { refuseOpening, refuseTeamWork } from "../access/members/team-work.js";
import { permit, seesOutcomes } from "../access/visibility/visibility.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findResourceAt, listAddresses } from "../resources/resource.table.js";
import { findOwningWorkspace } from "../resources/resource-location.table.js";
import type { RunRow } from "../runs/run.js";
import { runs } from "../runs/run.table.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import { getPrunedBefore } from "../tables/pruned-before.js";
import type { TaskRow } from "./task.js";
import { tasks } from "./task.table.js";

/** Filters of a task list. A task must match all filters that are set. */
export interface TaskFilter {
  readonly state?: TaskRow["state"] | undefined;
  readonly lineId?: string | undefined;
  readonly station?: string | undefined;
  /** User id; null for tasks without an assignee. */
  readonly assignee?: string | null | undefined;
}

/** Filters of a task list, as clients send them. */
export interface WantedTasks extends Pick<TaskFilter, "state" | "station"> {
  /** The line's key. */
  readonly line?: string | undefined;
  /** User id, or `none` for unassigned tasks. */
  readonly assignee?: string | undefined;
}

/** Converts a client's filters. Returns null if no line has the key `line`: then no task matches. */
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
  /** Lists only tasks that were opened before the task with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
  /** The position where the previous page stopped. */
  readonly cursor: Cursor<TaskRow> | null;
}

/** Lists a page of the team's matching tasks, newest first. */
export function listTeamTasks(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  filter: TaskFilter,
  { before, limit, cursor }: TaskPage,
): Slice<TaskRow> {
  const place = before === undefined ? undefined : [before];
  return tasks.page(reading, workspaceId, { ...filter, teamId }, { before: place, limit, cursor });
}

/** A task that the caller may see. */
export interface VisibleTask {
  readonly workspaceId: string;
  readonly task: TaskRow;
}

/** Finds a task. Refuses with `not-found` unless the caller sees the task's workspace. */
export function findVisibleTask(reading: Reading, caller: Caller, taskId: string): VisibleTask | Refusal {
  const workspaceId = findOwningWorkspace(reading, "task", taskId);
  if (workspaceId === undefined) return { refused: "not-found" };
  const refused = permit(reading, caller, workspaceId, "read", "team");
  if (refused !== null) return refused;
  const task = tasks.get(reading, workspaceId, taskId);
  if (task === undefined) expectNotListed(reading, workspaceId, taskId);
  return task === undefined ? { refused: "not-found" } : { workspaceId, task };
}

const findTeamTask = tasks.listed("team-task");

/** Throws `damaged` if a team's list has the task, but the task has no row. */
function expectNotListed(reading: Reading, workspaceId: string, taskId: string): void {
  for (const { id: teamId } of listAddresses(reading, workspaceId, "team", {})) {
    findTeamTask(reading, workspaceId, teamId, taskId);
  }
}

/** Finds a task for members of its team. Refuses other readers with `forbidden`. */
export function findTaskToWorkOn(reading: Reading, caller: Caller, taskId: string): VisibleTask | Refusal {
  const found = findVisibleTask(reading, caller, taskId);
  if (isRefusal(found)) return found;
  const { workspaceId, task } = found;
  return refuseTeamWork(reading, caller, { workspaceId, teamId: task.teamId }) ?? found;
}

/** Finds a task for members of its team, and for tokens with `work`. Refuses other readers with `forbidden`. */
export function findTaskToAddTo(reading: Reading, caller: Caller, taskId: string): VisibleTask | Refusal {
  const found = findVisibleTask(reading, caller, taskId);
  if (isRefusal(found)) return found;
  const { workspaceId, task } = found;
  return refuseOpening(reading, caller, { workspaceId, teamId: task.teamId }) ?? found;
}

/**
 * Finds a task for members of the task's team, and for the token that opened the task. Refuses other readers with
 * `forbidden`.
 */
export function findTaskToClose(reading: Reading, caller: Caller, taskId: string): VisibleTask | Refusal {
  const found = findTaskToAddTo(reading, caller, taskId);
  if (isRefusal(found) || caller.kind === "person") return found;
  const { openedBy } = found.task;
  return openedBy?.kind === "token" && openedBy.tokenId === caller.tokenId ? found : notItsTask;
}

const notItsTask: Refusal = {
  refused: "forbidden",
  title: "Not the opener of the task",
  detail: "A token closes only the tasks that it opened. Another token, a person or an integration opened this one.",
};

/** Finds a task for callers who may read the outcomes of the task's team. Refuses other callers with `not-found`. */
export function findTaskOfOutcomes(reading: Reading, caller: Caller, taskId: string): VisibleTask | Refusal {
  const found = findVisibleTask(reading, caller, taskId);
  if (isRefusal(found)) return found;
  const { workspaceId, task } = found;
  return seesOutcomes(reading, caller, workspaceId, task.teamId) ? found : { refused: "not-found" };
}

/** Returns the current row of the task; the given row if the task was removed. */
export function getTaskNow(reading: Reading, { workspaceId, task }: VisibleTask): TaskRow {
  return tasks.get(reading, workspaceId, task.id) ?? task;
}

/** Lists the runs of a task, newest first. With `before`, lists only older runs. */
export function listTaskRuns(
  reading: Reading,
  { workspaceId, task }: VisibleTask,
  { before, limit }: { readonly before?: string | undefined; readonly limit: number },
): RunRow[] {
  const place = before === undefined ? undefined : [before];
  return runs.all(reading, workspaceId, { taskId: task.id }, { before: place, limit });
}

/** Returns the time before which retention has removed ended tasks; null if retention has removed no tasks. */
export function tasksPrunedBefore(reading: Reading, workspaceId: string, nowMs: number): string | null {
  return getPrunedBefore(reading, workspaceId, { name: tasks.name, nowMs });
}
