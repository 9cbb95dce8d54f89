import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { WorkEvent } from "./catalogue.js";

/** How many events of a team are kept: the latest ones. */
export const MAX_EVENTS_KEPT = 1_000;

/** `[team, occurrence]`; ids rise with time */
const events = table<WorkEvent>("work-event");
/** `[team]` -> how many there are */
const counts = table<number>("work-event-count");

/** Keeps an event among the latest of its team; in the batch in which it happens. */
export function recordEvent(writing: Writing, work: WorkEvent): void {
  const { workspaceId, teamId, occurrence } = work;
  events.put(writing, workspaceId, [teamId, occurrence], work);
  const count = (counts.get(writing, workspaceId, teamId) ?? 0) + 1;
  if (count <= MAX_EVENTS_KEPT) return counts.put(writing, workspaceId, teamId, count);
  const [oldest] = events.entries(writing, workspaceId, [teamId], { limit: 1 });
  if (oldest !== undefined) writing.remove(oldest.key);
}

/** An event of the team by its occurrence; undefined when there was none, or it is not kept any more. */
export function findEvent(
  reading: Reading,
  workspaceId: string,
  teamId: string,
  occurrence: string,
): WorkEvent | undefined {
  return events.get(reading, workspaceId, teamId, occurrence);
}

/** Which events of a team. */
export interface EventPage {
  readonly event?: string | undefined;
  readonly task?: string | undefined;
  /** Only those before this occurrence. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** The team's latest events that fit, newest first. */
export function listLatestEvents(
  reading: Reading,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
  { event, task, before, limit }: EventPage,
): WorkEvent[] {
  const page = before === undefined ? {} : { before: [teamId, before] };
  const isNarrow = event !== undefined || task !== undefined;
  const found = events.list(reading, workspaceId, [teamId], {
    ...page,
    reverse: true,
    limit: isNarrow ? MAX_EVENTS_KEPT : limit,
  });
  return found
    .filter((work) => (event ?? work.on) === work.on && (task ?? work.task.id) === work.task.id)
    .slice(0, limit);
}
