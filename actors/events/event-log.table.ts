import type { Reading, Writing } from "../../storage/store.js";
import { type Table, table } from "../../storage/table.js";
import { writeJson } from "../exact-json.js";
import { cutBytes } from "../tables/cut-bytes.js";
import { retain } from "../tables/retention.js";
import { MAX_STORED_EVENTS, type WorkEvent, workEvents } from "./catalogue.js";

/** Key: `[team, occurrence]`. Ids increase with time. */
export const events = table<WorkEvent>("work-event");
/** Key: `[team]`. Value: the number of stored events. */
export const counts = table<number>("work-event-count");
/**
 * Key: `[team]`. Value: the occurrences of the next events to remove, oldest first. Stored because finding these
 * occurrences requires reading whole events.
 */
export const oldest = table<readonly string[]>("work-event-oldest");
/**
 * Key: `[team, occurrence]`. Only tool call events. They are frequent, so they have their own limit, and do not evict
 * other events.
 */
export const callEvents = table<WorkEvent>("call-event");
/** Key: `[team]`. Value: the number of stored tool call events. */
export const callCounts = table<number>("call-event-count");
/** Key: `[team]`. Value: the occurrences of the next tool call events to remove, oldest first. */
export const oldestCalls = table<readonly string[]>("call-event-oldest");

/** How many events to find for removal at once. */
const FOUND_AT_ONCE = 64;

/** The tables of one log, for all teams. Tool call events have one log; all other events have another. */
interface EventLog {
  readonly events: Table<WorkEvent>;
  readonly counts: Table<number>;
  readonly oldest: Table<readonly string[]>;
}

const workLog: EventLog = { events, counts, oldest };
const callLog: EventLog = { events: callEvents, counts: callCounts, oldest: oldestCalls };

/** Stores an event in the log of its team. Call it in the batch in which the event happens. */
export function recordEvent(writing: Writing, work: WorkEvent): void {
  const { workspaceId, teamId, occurrence } = work;
  const log = isCallEvent(work) ? callLog : workLog;
  log.events.put(writing, workspaceId, [teamId, occurrence], toStoredEvent(work));
  const count = (log.counts.get(writing, workspaceId, teamId) ?? 0) + 1;
  if (count <= MAX_STORED_EVENTS) return log.counts.put(writing, workspaceId, teamId, count);
  removeOldest(writing, log, work);
}

function removeOldest(
  writing: Writing,
  log: EventLog,
  { workspaceId, teamId }: Pick<WorkEvent, "workspaceId" | "teamId">,
): void {
  const known = log.oldest.get(writing, workspaceId, teamId) ?? [];
  const found = known.length > 0 ? known : findOldest(writing, log, { workspaceId, teamId });
  const [first, ...next] = found;
  if (first === undefined) return;
  log.events.remove(writing, workspaceId, teamId, first);
  log.oldest.put(writing, workspaceId, teamId, next);
}

function findOldest(
  reading: Reading,
  { events }: EventLog,
  { workspaceId, teamId }: Pick<WorkEvent, "workspaceId" | "teamId">,
): readonly string[] {
  return events.list(reading, workspaceId, [teamId], { limit: FOUND_AT_ONCE }).map(({ occurrence }) => occurrence);
}

/** An event's retention period starts when the event happens. */
export const [eventRetention, callEventRetention] = [retainLog(workLog), retainLog(callLog)];

function retainLog(log: EventLog) {
  return retain(log.events, {
    period: "work",
    lineParts: 1,
    startedAtMs: ({ event }) => Date.parse(event.at),
    endedAtMs: ({ event }) => Date.parse(event.at),
    remove: (turn, { workspaceId, teamId, occurrence }) => {
      log.events.remove(turn, workspaceId, teamId, occurrence);
      // Clear the stored list of the next events to remove, because it may contain the removed event.
      log.oldest.remove(turn, workspaceId, teamId);
      const count = (log.counts.get(turn, workspaceId, teamId) ?? 0) - 1;
      if (count > 0) log.counts.put(turn, workspaceId, teamId, count);
      else log.counts.remove(turn, workspaceId, teamId);
      return true;
    },
  });
}

/** The time of the oldest stored event, in milliseconds since 1970; null if there is none. */
export function oldestEventMs(reading: Reading, workspaceId: string, teamId: string): number | null {
  const oldest = [events, callEvents].flatMap((log) => log.list(reading, workspaceId, [teamId], { limit: 1 }));
  return oldest.length === 0 ? null : Math.min(...oldest.map(({ event }) => Date.parse(event.at)));
}

/**
 * Maximum size of a call's inputs in a stored event, in bytes of JSON text. The same maximum applies to the call's
 * output.
 */
const MAX_STORED_BYTES = 4 * 1024;

/** Whether the event belongs to a tool call. */
function isCallEvent({ on }: Pick<WorkEvent, "on">): boolean {
  return workEvents[on].tools;
}

/**
 * Returns an event in the form that a team's event log stores. Long inputs and outputs of a call are cut to their
 * beginnings, and `cut` names the cut fields. Hooks get the full event, and the call's own row has the full values.
 */
function toStoredEvent(work: WorkEvent): WorkEvent {
  if (!isCallEvent(work)) return work;
  const cut = ["inputs", "output"].filter((name) => jsonBytes(work.event[name]) > MAX_STORED_BYTES);
  if (cut.length === 0) return work;
  const beginnings = cut.map((name) => [name, toBeginning(work.event[name], MAX_STORED_BYTES, name === "inputs")]);
  return { ...work, event: { ...work.event, ...Object.fromEntries(beginnings), cut } };
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(writeJson(value) ?? "");
}

/**
 * Returns the beginning of a value, in at most `maxBytes` of JSON text. If `isObject`, an object stays an object with
 * fewer or shorter members. Any other value becomes text.
 */
function toBeginning(value: unknown, maxBytes: number, isObject: boolean): unknown {
  if (isObject && typeof value === "object" && value !== null) return cutMembers(value, maxBytes);
  let text = cutBytes(typeof value === "string" ? value : writeJson(value), maxBytes);
  while (jsonBytes(text) > maxBytes) text = cutBytes(text, Math.floor(Buffer.byteLength(text) / 2));
  return text;
}

/** Keeps the shortest members unchanged, cuts the first member that does not fit, and drops the longer members. */
function cutMembers(value: object, maxBytes: number): object {
  const bySize = Object.entries(value)
    .map(([name, member]) => ({ name, member, bytes: jsonBytes(member) }))
    .sort((left, right) => left.bytes - right.bytes);
  const shortened: [string, unknown][] = [];
  // Reserve two bytes for the braces.
  let left = maxBytes - 2;
  for (const { name, member, bytes } of bySize) {
    // Subtract the bytes of the member's name, a colon and a comma. Stop if the rest is too short for a pair of quotes.
    left -= jsonBytes(name) + 2;
    if (left < 2) break;
    shortened.push([name, bytes <= left ? member : toBeginning(member, left, false)]);
    left -= bytes;
  }
  return Object.fromEntries(shortened);
}
