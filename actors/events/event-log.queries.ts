import type { Reading } from "../../storage/store.js";
import { getPrunedBefore } from "../tables/pruned-before.js";
import type { WorkEvent } from "./catalogue.js";
import { MAX_STORED_EVENTS } from "./catalogue.js";
import { callEvents, events } from "./event-log.table.js";

/** A filter and page of a team's events. */
export interface EventPage {
  readonly event?: string | undefined;
  readonly task?: string | undefined;
  /** Only events before this occurrence. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Finds a team's event by its occurrence. Undefined if there is no such event, or if it has been removed. */
export function findEvent(
  reading: Reading,
  workspaceId: string,
  teamId: string,
  occurrence: string,
): WorkEvent | undefined {
  return (
    events.get(reading, workspaceId, teamId, occurrence) ?? callEvents.get(reading, workspaceId, teamId, occurrence)
  );
}

/** Lists the team's latest events that match, newest first. */
export function listLatestEvents(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  { event, task, before, limit }: EventPage,
): WorkEvent[] {
  const page = before === undefined ? {} : { before: [teamId, before] };
  const isNarrow = event !== undefined || task !== undefined;
  const found = [events, callEvents].flatMap((log) =>
    log.list(reading, workspaceId, [teamId], { ...page, reverse: true, limit: isNarrow ? MAX_STORED_EVENTS : limit }),
  );
  return found
    .sort((left, right) => (left.occurrence > right.occurrence ? -1 : 1))
    .filter((work) => (event ?? work.on) === work.on && (task ?? work.task.id) === work.task.id)
    .slice(0, limit);
}

/** Returns the time before which retention has removed events; null if it has removed none. */
export function eventsPrunedBefore(reading: Reading, workspaceId: string, nowMs: number): string | null {
  const marks = [events, callEvents].map(({ name }) => getPrunedBefore(reading, workspaceId, { name, nowMs }));
  return marks.reduce((latest, mark) => (latest === null || (mark !== null && mark > latest) ? mark : latest));
}
