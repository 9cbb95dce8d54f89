import type { Writing } from "../../storage/store.js";
import type { LineFields } from "../lines/line.js";
import { findLine, findStation } from "../lines/line.queries.js";
import type { EventTask, WorkEvent } from "./catalogue.js";
import { recordEvent } from "./event-log.table.js";

/** What events say of a task, as plain values. */
export interface EventTaskValues {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly teamId: string;
  readonly lineId: string;
  /** Key of the station it stands at. */
  readonly station: string;
  readonly marks: Readonly<Record<string, string>>;
}

/** What an event is about. */
export interface EventSubject {
  readonly task: EventTaskValues;
  /** The firings and events behind what was done to it last, oldest first. */
  readonly causes: readonly string[];
}

/** A task as events show it. */
export function toEventTask(task: EventTaskValues, line: LineFields | undefined): EventTask {
  return {
    id: task.id,
    title: task.title,
    url: task.url,
    line: line?.key ?? "",
    station: findStation(line, task.station)?.name ?? task.station,
    stationKey: task.station,
    marks: task.marks,
    repositories: line?.repositories.map((repository) => repository.name) ?? [],
    pullRequest: null,
  };
}

/**
 * An event about a task, caused by what was done to it last, and kept among the latest of the team; in the turn in
 * which it happens, or is asked about.
 */
export function recordWorkEvent(
  writing: Writing,
  workspaceId: string,
  { task, causes }: EventSubject,
  of: Pick<WorkEvent, "on" | "occurrence" | "run" | "event">,
): WorkEvent {
  const line = findLine(writing, workspaceId, task.lineId);
  const work: WorkEvent = {
    ...of,
    workspaceId,
    teamId: task.teamId,
    lineId: task.lineId,
    stationId: findStation(line, task.station)?.id ?? "",
    task: toEventTask(task, line),
    causes,
  };
  recordEvent(writing, work);
  return work;
}
