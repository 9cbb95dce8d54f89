import type { Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
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
