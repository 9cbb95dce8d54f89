import type { Turn } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** `[table]` -> what ended before this time, in milliseconds since 1970, may have been removed. */
const prunedMarks = table<number>("retention-mark");

/** Records that rows of a table were removed; a mark that a clock which was ahead left is cut to now. */
export function markPruned(turn: Turn, name: string, cutoffMs: number): void {
  const before = prunedMarks.get(turn, turn.self.partition, name);
  putMark(turn, name, { before, after: Math.max(before ?? 0, cutoffMs) });
}

/** Cuts a mark that a clock which was ahead left to now: what ends from now on is stored. */
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

/** What ended before this time, now at the latest, is not listed any more; null when nothing was removed so far. */
export function getPrunedBefore(
  reading: Reading,
  partition: string,
  { name, nowMs }: { readonly name: string; readonly nowMs: number },
): string | null {
  const mark = prunedMarks.get(reading, partition, name);
  return mark === undefined ? null : new Date(Math.min(mark, nowMs)).toISOString();
}
