import type { Reading } from "../../storage/store.js";
import { type EventSubject, toEventTask } from "../events/event-task.js";
import { findLine } from "../lines/line.queries.js";

/** A task as the expressions of integrations see it. */
export interface TaskValues {
  /** The line's key. */
  readonly line: string;
  /** The station's name. */
  readonly station: string;
  readonly stationKey: string;
  readonly marks: Readonly<Record<string, string>>;
}

export function toTaskValues(reading: Reading, workspaceId: string, { task }: EventSubject): TaskValues {
  const { line, station, stationKey, marks } = toEventTask(task, findLine(reading, workspaceId, task.lineId));
  return { line, station, stationKey, marks };
}
