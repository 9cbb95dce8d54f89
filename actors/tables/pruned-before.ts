import type { Turn } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** `[table]` -> what ended before this time, in milliseconds since 1970, may have been removed. */
const prunedMarks = table<number>("retention-mark");

/** Records that rows of a table were removed. */
export function markPruned(turn: Turn, name: string, cutoffMs: number): void {
  const { partition } = turn.self;
  if ((prunedMarks.get(turn, partition, name) ?? 0) < cutoffMs) prunedMarks.put(turn, partition, name, cutoffMs);
}

/** What ended before this time is not listed any more; null when nothing was removed so far. */
export function getPrunedBefore(
  reading: Reading,
  partition: string,
  { name }: { readonly name: string },
): string | null {
  const mark = prunedMarks.get(reading, partition, name);
  return mark === undefined ? null : new Date(mark).toISOString();
}
