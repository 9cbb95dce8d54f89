/**
 * Pins protect a row from retention while something else refers to the row. A retention rule checks the pins of a row
 * in the turn that removes the row. So set a pin only in a turn in which the row exists.
 */
import type { TurnReading } from "../../runtime/turns/turn.js";
import type { Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** The id of a row, with its table's name. */
interface Pinned {
  readonly of: string;
  readonly id: string;
}

interface Pin {
  /** End of the pin, in milliseconds since 1970; null for no end. */
  readonly untilMs: number | null;
}

/** Key: `[table, id, pinned by]`. */
export const pins = table<Pin>("pin");

/** Pins a row for `by`. Replaces an earlier pin of `by`. */
export function pin(
  writing: Writing,
  workspaceId: string,
  { of, id, by, untilMs = null }: Pinned & { readonly by: string; readonly untilMs?: number | null },
): void {
  pins.put(writing, workspaceId, [of, id, by], { untilMs });
}

/** Removes the pin of `by`. Does nothing if there is none. */
export function unpin(writing: Writing, workspaceId: string, { of, id, by }: Pinned & { readonly by: string }): void {
  pins.remove(writing, workspaceId, of, id, by);
}

/** Whether something pins the row now. */
export function isPinned(turn: TurnReading, { of, id }: Pinned): boolean {
  return pins.list(turn, turn.self.partition, [of, id]).some(({ untilMs }) => untilMs === null || untilMs > turn.now);
}

/** Removes all pins of a row, in the turn that removes the row. */
export function removePins(turn: TurnReading & Writing, { of, id }: Pinned): void {
  for (const { key } of pins.entries(turn, turn.self.partition, [of, id])) turn.remove(key);
}
