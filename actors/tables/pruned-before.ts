import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** Key: `[table]`. Value: a time in milliseconds since 1970. Rows that ended before this time may have been removed. */
export const prunedMarks = table<number>("retention-mark");

/**
 * Records that rows of a table that ended before `cutoffMs` were removed. Never sets the mark to a future time. A mark
 * that is already in the future, because the clock was fast, is set to now.
 */
export function markPruned(turn: Turn, name: string, cutoffMs: number): void {
  const before = prunedMarks.get(turn, turn.self.partition, name);
  putMark(turn, name, { before, after: Math.max(before ?? 0, cutoffMs) });
}

/**
 * If the mark is in the future, because the clock was fast, sets the mark to now. Rows that end after now cannot have
 * been removed.
 */
export function cutMark(turn: Turn, name: string): void {
  const before = prunedMarks.get(turn, turn.self.partition, name);
  if (before !== undefined) putMark(turn, name, { before, after: before });
}

function putMark(
  turn: Turn,
  name: string,
  { before, after }: { readonly before: number | undefined; readonly after: number },
): void {
  const mark = Math.min(after, turn.now);
  if (mark !== before) prunedMarks.put(turn, turn.self.partition, name, mark);
}

/**
 * Returns the time before which ended rows may be missing from lists. The time is never in the future. Null if no row
 * was removed.
 */
export function getPrunedBefore(
  reading: Reading,
  partition: string,
  { name, nowMs }: { readonly name: string; readonly nowMs: number },
): string | null {
  const mark = prunedMarks.get(reading, partition, name);
  return mark === undefined ? null : new Date(Math.min(mark, nowMs)).toISOString();
}
