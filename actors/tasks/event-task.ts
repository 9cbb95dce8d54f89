import type { Reading, Writing } from "../../storage/store.js";
import type { LineFields } from "../lines/line.kind.js";
import type { Station } from "../lines/station.js";
import { findResource } from "../resources/resource.table.js";
import { recordEvent } from "./event-log.js";
import { type TaskRow, taskCauses } from "./task.table.js";
import type { EventTask, WorkEvent } from "./work-event.js";

/** The line of a task as it is now, or undefined when it is gone. */
export function lineOf(reading: Reading, workspaceId: string, lineId: string): LineFields | undefined {
  return findResource<LineFields>(reading, workspaceId, "line", lineId)?.fields;
}

/** A station of a line by its key. */
export function stationOf(line: LineFields | undefined, key: string): Station | undefined {
  return line?.stations.find((station) => station.key === key);
}

/** Those of the stations that come later in the line than `key`; passing to any other sends back. */
export function laterStations(line: LineFields | undefined, key: string, passesTo: readonly string[]): string[] {
  const order = line?.stations.map((station) => station.key) ?? [];
  return passesTo.filter((to) => order.indexOf(to) > order.indexOf(key));
}

/** A task as events show it. */
export function eventTask(task: TaskRow, line: LineFields | undefined): EventTask {
  return {
    id: task.id,
    title: task.title,
    url: task.url,
    line: line?.key ?? "",
    station: stationOf(line, task.station)?.name ?? task.station,
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
export function workEvent(
  writing: Writing,
  workspaceId: string,
  task: TaskRow,
  of: Pick<WorkEvent, "on" | "occurrence" | "run" | "event">,
): WorkEvent {
  const line = lineOf(writing, workspaceId, task.lineId);
  const work: WorkEvent = {
    ...of,
    workspaceId,
    teamId: task.teamId,
    lineId: task.lineId,
    stationId: stationOf(line, task.station)?.id ?? "",
    task: eventTask(task, line),
    causes: taskCauses.get(writing, workspaceId, task.id) ?? [],
  };
  recordEvent(writing, work);
  return work;
}
