import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import { derivedRows } from "../tables/table-declaration.js";
import { isOpen } from "./task.js";
import { tasks } from "./task.table.js";
import type { RaiseTask, TaskRaised } from "./team-marks.messages.js";

/** The task that has a mark. Valid while the task is open or being opened. */
export interface TaskMarkRow {
  readonly teamId: string;
  readonly kind: string;
  readonly value: string;
  readonly taskId: string;
  /** Whether the task is still being opened: it has not confirmed its opening. */
  readonly opening: boolean;
}

/** Key: `[team, kind, value]`. Written only by the team's marks actor. */
export const taskMarks = indexedTable<TaskMarkRow>("task-mark", {
  under: ["teamId"],
  order: ["kind", "value"],
  indexes: { "task-mark-of": ["teamId", "taskId"] },
});

/** The result of an event with a key. */
export interface TaskRaiseRow extends Pick<TaskRaised, "outcome" | "taskId" | "reason"> {
  readonly teamId: string;
  readonly key: string;
  readonly atMs: number;
  /** The senders that wait for the answer; null once the result is known. */
  readonly waiting: readonly Pick<RaiseTask, "deliveryId" | "answerTo">[] | null;
}

/** Key: `[team, time, key]`. */
export const raiseAges = table<true>("task-raise-age");

/** Key: `[team, key]`. */
export const taskRaises = indexedTable<TaskRaiseRow>("task-raise", {
  under: ["teamId"],
  order: ["key"],
  derived: [derivedRows(raiseAges, ({ teamId, atMs, key }) => [[[teamId, atMs, key], true]])],
});

/** Finds the team's open task that has the mark or is being opened with it; undefined if there is none. */
export function findMarkedTask(
  reading: Reading,
  workspaceId: string,
  of: Pick<TaskMarkRow, "teamId" | "kind" | "value">,
): string | undefined {
  const row = taskMarks.get(reading, workspaceId, of.teamId, of.kind, of.value);
  if (row === undefined) return undefined;
  const task = tasks.get(reading, workspaceId, row.taskId);
  const counts = task === undefined ? row.opening : isOpen(task);
  return counts ? row.taskId : undefined;
}
