import type { Writing } from "../../storage/store.js";
import type { LineFields } from "../lines/line.js";
import { findLine, findStation } from "../lines/line.queries.js";
import { type Opener, toShownOpener } from "../opener.js";
import type { EventTask, WorkEvent } from "./catalogue.js";
import { recordEvent } from "./event-log.table.js";

/** The values of a task that its events need. */
export interface EventTaskValues {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly teamId: string;
  readonly lineId: string;
  /** Key of the task's current station. */
  readonly station: string;
  readonly marks: Readonly<Record<string, string>>;
  /** The branch that the task's work starts from and is merged into; null or absent for none. */
  readonly branch?: string | null;
  /** Null or absent if the task has no pull request. */
  readonly pullRequest?: { readonly url: string } | null;
  /** Null or absent if unknown. */
  readonly openedBy?: Opener | null;
}

/** The task that an event is about, and the causes of the event. */
export interface EventSubject {
  readonly task: EventTaskValues;
  /** The hook occurrences and events that caused the task's latest change, oldest first. */
  readonly causes: readonly string[];
}

/** Converts a task to the form that events use. */
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
    openedBy: toShownOpener(task.openedBy ?? null),
  };
}

/**
 * Creates an event about a task and stores it in the team's event log. The event has the causes of the task's latest
 * change. Call this in the turn in which the event happens or becomes a gate question.
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
