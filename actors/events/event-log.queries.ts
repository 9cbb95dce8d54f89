import type { Reading } from "../../storage/store.js";
import { getPrunedBefore } from "../tables/pruned-before.js";
import type { WorkEvent } from "./catalogue.js";
import { MAX_EVENTS_KEPT } from "./catalogue.js";
import { callEvents, events } from "./event-log.table.js";

/** Selects events of a team. */
export interface EventPage {
  readonly event?: string | undefined;
  readonly task?: string | undefined;
  /** Only events before this occurrence. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** An event of the team by its occurrence; undefined when there was none, or it is not stored any more. */
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

/** The team's latest events that match, newest first. */
export function listLatestEvents(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  { event, task, before, limit }: EventPage,
): WorkEvent[] {
  const page = before === undefined ? {} : { before: [teamId, before] };
  const isNarrow = event !== undefined || task !== undefined;
  const found = [events, callEvents].flatMap((log) =>
    log.list(reading, workspaceId, [teamId], { ...page, reverse: true, limit: isNarrow ? MAX_EVENTS_KEPT : limit }),
  );
  return found
    .sort((left, right) => (left.occurrence > right.occurrence ? -1 : 1))
    .filter((work) => (event ?? work.on) === work.on && (task ?? work.task.id) === work.task.id)
    .slice(0, limit);
}

/** Events before this time are not stored any more because of their age; null when none was removed. */
export function eventsPrunedBefore(reading: Reading, workspaceId: string, nowMs: number): string | null {
  const marks = [events, callEvents].map(({ name }) => getPrunedBefore(reading, workspaceId, { name, nowMs }));
  return marks.reduce((latest, mark) => (latest === null || (mark !== null && mark > latest) ? mark : latest));
}
