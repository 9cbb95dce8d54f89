import type { Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** The partitions that the simulated accounts live in. */
export const partitions = ["north", "south"] as const;

/** One row for each operation that was taken, written in its turn. `created` is the money it brought into the world. */
export const operations = table<{ readonly kind: string; readonly created: number }>("operation");
/** One row for each message that must arrive exactly once. */
export const arrivals = table<{ readonly at: string }>("arrival");
/** Reminders that are set, by account and name. */
export const reminders = table<{ readonly dueMs: number }>("reminder");
/** What must never happen, written by the turn that sees it. */
export const violations = table<{ readonly what: string }>("violation");

/** Notes that something which must never happen has happened. */
export function violate(turn: Writing & { readonly self: { readonly partition: string } }, what: string): void {
  violations.put(turn, turn.self.partition, what, { what });
}

/** Notes an arrival; a second one of the same name is a violation. */
export function arrive(
  turn: Writing & { readonly self: { readonly partition: string; readonly id: string } },
  name: string,
): void {
  const { partition, id } = turn.self;
  if (arrivals.get(turn, partition, name) !== undefined) violate(turn, `${name} arrived twice`);
  arrivals.put(turn, partition, name, { at: id });
}
