/**
 * What stays whatever the settings of retention say, since something else refers to it. A rule asks for pins in the turn
 * that removes a row; who pins does so in a turn that sees the row.
 */
import type { TurnReading } from "../../runtime/turn.js";
import type { Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** A row with an id of its own, by its table's name. */
interface Pinned {
  readonly of: string;
  readonly id: string;
}

interface Pin {
  /** Until when, in milliseconds since 1970; null for as long as it is there. */
  readonly untilMs: number | null;
}

/** `[table, id, who pins it]` */
const pins = table<Pin>("pin");

/** Pins a row for `by`, in its place if it has pinned it before. */
export function pin(
  writing: Writing,
  workspaceId: string,
  { of, id, by, untilMs = null }: Pinned & { readonly by: string; readonly untilMs?: number | null },
): void {
  pins.put(writing, workspaceId, [of, id, by], { untilMs });
}

/** Takes the pin of `by` away; none is fine. */
export function unpin(writing: Writing, workspaceId: string, { of, id, by }: Pinned & { readonly by: string }): void {
  pins.remove(writing, workspaceId, of, id, by);
}

/** Whether something pins the row now. */
export function isPinned(turn: TurnReading, { of, id }: Pinned): boolean {
  return pins.list(turn, turn.self.partition, [of, id]).some(({ untilMs }) => untilMs === null || untilMs > turn.now);
}

/** Removes the pins of a row that is removed: those whose time is over. */
export function removePins(turn: TurnReading & Writing, { of, id }: Pinned): void {
  for (const { key } of pins.entries(turn, turn.self.partition, [of, id])) turn.remove(key);
}
