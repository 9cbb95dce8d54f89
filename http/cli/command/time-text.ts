import { toDuration } from "./duration.js";
import type { Terminal } from "./terminal.js";

/** A time less than this many seconds ago is `just now`. */
const JUST_NOW = 10;

/**
 * Formats a time of the API for people. On a terminal, the text is relative to now, such as `5 min ago`. Otherwise it
 * is RFC 3339 without the fraction of the second. Null stays null.
 */
export function toTimeText<Time extends string | null>({ isTerminal }: Pick<Terminal, "isTerminal">, at: Time): Time;
export function toTimeText({ isTerminal }: Pick<Terminal, "isTerminal">, at: string | null): string | null {
  if (at === null || !isTerminal) return at === null ? null : toTimestamp(at);
  const seconds = Math.round((Date.parse(at) - Date.now()) / 1_000);
  if (Number.isNaN(seconds)) return at;
  if (seconds > -JUST_NOW && seconds <= 0) return "just now";
  return seconds > 0 ? `in ${toDuration(seconds)}` : `${toDuration(-seconds)} ago`;
}

/** Removes the fraction of the second from a time of the API. */
export function toTimestamp(at: string): string {
  return at.replace(/\.\d+(?=Z$)/, "");
}
