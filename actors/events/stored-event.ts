import { writeJson } from "../exact-json.js";
import { cutBytes } from "../tables/cut-bytes.js";
import { type WorkEvent, workEvents } from "./catalogue.js";

/** Maximum stored size of a call's inputs in its event, and of its output, in bytes of JSON text. */
const MAX_STORED_BYTES = 4 * 1024;

/** Whether the event belongs to a tool call. */
export function isCallEvent({ on }: Pick<WorkEvent, "on">): boolean {
  return workEvents[on].tools;
}

/**
 * Returns an event in the form that a team's event log stores. Long inputs and outputs of a call are cut to their
 * beginnings, and `cut` names the cut fields. Hooks get the full event, and the call's own row has the full values.
 */
export function toStoredEvent(work: WorkEvent): WorkEvent {
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
 * Returns the beginning of a value, in at most `maxBytes` of JSON text. If it must stay an object, cuts each member.
 */
function toBeginning(value: unknown, maxBytes: number, isObject: boolean): unknown {
  if (isObject && typeof value === "object" && value !== null) return cutMembers(value, maxBytes);
  let text = cutBytes(typeof value === "string" ? value : writeJson(value), maxBytes);
  while (jsonBytes(text) > maxBytes) text = cutBytes(text, Math.floor(Buffer.byteLength(text) / 2));
  return text;
}

/** Includes the short members, cuts the first one that does not fit, and drops the longer ones. */
function cutMembers(value: object, maxBytes: number): object {
  const bySize = Object.entries(value)
    .map(([name, member]) => ({ name, member, bytes: jsonBytes(member) }))
    .sort((left, right) => left.bytes - right.bytes);
  const kept: [string, unknown][] = [];
  // Reserve two bytes for the braces.
  let left = maxBytes - 2;
  for (const { name, member, bytes } of bySize) {
    // Subtract the member's name, a colon and a comma. Its value needs at least two quotes.
    left -= jsonBytes(name) + 2;
    if (left < 2) break;
    kept.push([name, bytes <= left ? member : toBeginning(member, left, false)]);
    left -= bytes;
  }
  return Object.fromEntries(kept);
}
