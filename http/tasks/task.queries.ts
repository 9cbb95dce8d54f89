import { isOnTeam, permit, seesOutcomes } from "../../actors/access/visibility.js";
import type { Caller } from "../../actors/caller.js";
import type { Refusal } from "../../actors/refusal.js";
import { findLocation } from "../../actors/resources/resource-location.table.js";
import { type RunRow, runs } from "../../actors/runs/run.table.js";
import type { TaskRow } from "../../actors/tasks/task.js";
import { tasks } from "../../actors/tasks/task.table.js";
import type { Runtime } from "../../runtime/runtime.js";

/** A task that the caller sees. */
export function findTask(
  { reading }: Runtime,
  caller: Caller,
  taskId: string,
): { readonly workspaceId: string; readonly task: TaskRow } | Refusal {
  const place = findLocation(reading, taskId);
  if (place?.kind !== "task") return { refused: "not-found" };
  const refused = permit(reading, caller, place.workspaceId, "read", "team");
  const task = tasks.get(reading, place.workspaceId, taskId);
  return refused ?? (task === undefined ? { refused: "not-found" } : { workspaceId: place.workspaceId, task });
}

/** A run of a team whose outcomes the caller may read. */
export function findRun(
  { reading }: Runtime,
  caller: Caller,
  runId: string,
): { readonly workspaceId: string; readonly run: RunRow } | Refusal {
  const place = findLocation(reading, runId);
  const run = place?.kind === "run" ? runs.get(reading, place.workspaceId, runId) : undefined;
  if (place === undefined || run === undefined) return { refused: "not-found" };
  if (!seesOutcomes(reading, caller, place.workspaceId, run.teamId)) return { refused: "not-found" };
  return { workspaceId: place.workspaceId, run };
}

/** Whether the caller is a person on the team. */
export function isOnTaskTeam(runtime: Runtime, caller: Caller, workspaceId: string, teamId: string): boolean {
  return caller.kind === "person" && isOnTeam(runtime.reading, caller.userId, workspaceId, teamId);
}

/** The 403 for whoever is not. */
export function notOnTeam(): Refusal {
  return { refused: "forbidden", title: "Not on the team", detail: "Only people on the team work on its tasks." };
}
