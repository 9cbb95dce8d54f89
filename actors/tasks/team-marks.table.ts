import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { indexedTable } from "../tables/indexed-table.js";
import { derivedRows } from "../tables/table-declaration.js";
import { isOpen } from "./task.js";
import { tasks } from "./task.table.js";
import type { RaiseTask, TaskRaised } from "./team-marks.messages.js";

/** The task that has a mark. It counts while the task is open, or is about to be opened. */
export interface TaskMarkRow {
  readonly teamId: string;
  readonly kind: string;
  readonly value: string;
  readonly taskId: string;
  /** Whether the task has not said yet that it is opened. */
  readonly opening: boolean;
}

/** `[team, kind, value]`; written by the actor of the team's marks alone. */
export const taskMarks = indexedTable<TaskMarkRow>("task-mark", {
  ...{ under: ["teamId"], order: ["kind", "value"] },
  indexes: { "task-mark-of": ["teamId", "taskId"] },
});

/** What was raised under a key. */
export interface TaskRaiseRow extends Pick<TaskRaised, "outcome" | "taskId" | "reason"> {
  readonly teamId: string;
  readonly key: string;
  readonly atMs: number;
  /** Who is answered once the task has taken it; null when it has. */
  readonly waiting: readonly Pick<RaiseTask, "deliveryId" | "answerTo">[] | null;
}

/** `[team, time, key]` */
export const raiseAges = table<true>("task-raise-age");

/** `[team, key]` */
export const taskRaises = indexedTable<TaskRaiseRow>("task-raise", {
  ...{ under: ["teamId"], order: ["key"] },
  derived: [derivedRows(raiseAges, ({ teamId, atMs, key }) => [[[teamId, atMs, key], true]])],
});

/** The open task of the team that has the mark, or is about to be opened with it; undefined for none. */
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
