import type { Writing } from "../../storage/store.js";
import type { LineFields } from "../lines/line.js";
import { findLine, findStation } from "../lines/line.queries.js";
import type { EventTask, WorkEvent } from "./catalogue.js";
import { recordEvent } from "./event-log.table.js";

/** The values of a task that events show. */
export interface EventTaskValues {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly teamId: string;
  readonly lineId: string;
  /** Key of its current station. */
  readonly station: string;
  readonly marks: Readonly<Record<string, string>>;
  /** The branch that its work begins at and is merged into; null or absent for each repository's default. */
  readonly branch?: string | null;
  /** Null or absent while there is none. */
  readonly pullRequest?: { readonly url: string } | null;
}

/** What an event is about. */
export interface EventSubject {
  readonly task: EventTaskValues;
  /** The hook occurrences and events that caused its last change, oldest first. */
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
    pullRequest: task.pullRequest?.url ?? null,
  };
}

/**
 * Makes an event about a task, with the causes of its last change, and stores it among the latest of the team. For the
 * turn in which the event happens or is asked about.
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
