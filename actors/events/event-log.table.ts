import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { retain } from "../tables/retention.js";
import { MAX_EVENTS_KEPT, type WorkEvent } from "./catalogue.js";

/** `[team, occurrence]`; ids rise with time */
export const events = table<WorkEvent>("work-event");
/** `[team]` -> how many there are */
const counts = table<number>("work-event-count");

/** Stores an event among the latest of its team, in the batch in which it happens. */
export function recordEvent(writing: Writing, work: WorkEvent): void {
  const { workspaceId, teamId, occurrence } = work;
  events.put(writing, workspaceId, [teamId, occurrence], work);
  const count = (counts.get(writing, workspaceId, teamId) ?? 0) + 1;
  if (count <= MAX_EVENTS_KEPT) return counts.put(writing, workspaceId, teamId, count);
  const [oldest] = events.entries(writing, workspaceId, [teamId], { limit: 1 });
  if (oldest !== undefined) writing.remove(oldest.key);
}

/** An event ends as it happens. */
export const eventRetention = retain(events, {
  period: "work",
  lineParts: 1,
  begunAtMs: ({ event }) => Date.parse(event.at),
  endedAtMs: ({ event }) => Date.parse(event.at),
  remove: (turn, { workspaceId, teamId, occurrence }) => {
    events.remove(turn, workspaceId, teamId, occurrence);
    const count = (counts.get(turn, workspaceId, teamId) ?? 0) - 1;
    if (count > 0) counts.put(turn, workspaceId, teamId, count);
    else counts.remove(turn, workspaceId, teamId);
    return true;
  },
});

/** When the oldest event that is listed happened, in milliseconds since 1970; null when none is. */
export function oldestEventMs(reading: Reading, workspaceId: string, teamId: string): number | null {
  const [oldest] = events.list(reading, workspaceId, [teamId], { limit: 1 });
  return oldest === undefined ? null : Date.parse(oldest.event.at);
}
