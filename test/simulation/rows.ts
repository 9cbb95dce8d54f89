import { directory } from "../../runtime/directories/directory.js";
import type { ReadView } from "../../runtime/rows/read-view.js";
import type { RowView } from "../../runtime/rows/row-view.js";
import type { Turn } from "../../runtime/turns/turn.js";
import type { Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** The partitions of the simulated accounts. */
export const partitions = ["north", "south"] as const;

interface OperationRow {
  readonly kind: string;
  readonly created: number;
}

/** One row per accepted operation, written in its turn. `created` is the amount of new money. */
export const operations = table<OperationRow>("operation");
/** The partition of each operation. */
export const takenAt = directory<{ readonly partition: string }>("taken-at");
/**
 * The operations of a partition, as each account caches them. After every turn, the runtime compares this row view with
 * the rows.
 */
export const ledger: RowView<{ count: number; created: number }> = {
  rows: [[operations.name]],
  build: (reading, { partition }) => {
    const all = operations.list(reading, partition);
    return { count: all.length, created: all.reduce((sum, { created }) => sum + created, 0) };
  },
};
/** The operations of a partition, cached for reads: the amount of new money by operation. */
export const durableLedger: ReadView<Map<string, number>> = {
  rows: [[operations.name]],
  build: (reading, partition) =>
    new Map(operations.entries(reading, partition).map(({ key, value }) => [String(key[3]), value.created])),
  apply: (held, change) => {
    const row = operations.toRow(change);
    if (row === undefined) held.delete(String(change.key[3]));
    else held.set(String(change.key[3]), row.created);
    return true;
  },
};
/** One row per message that must arrive exactly once. */
export const arrivals = table<{ readonly at: string }>("arrival");
/** Pending reminders, by account and name. */
export const reminders = table<{ readonly dueMs: number }>("reminder");
/** Violated rules, written by the turn that detects them. */
export const violations = table<{ readonly what: string }>("violation");

/** Records a violated rule. */
export function violate(turn: Writing & { readonly self: { readonly partition: string } }, what: string): void {
  violations.put(turn, turn.self.partition, what, { what });
}

/** Records an arrival. A second arrival under the same name is a violation. */
export function arrive(
  turn: Writing & { readonly self: { readonly partition: string; readonly id: string } },
  name: string,
): void {
  const { partition, id } = turn.self;
  if (arrivals.get(turn, partition, name) !== undefined) violate(turn, `${name} arrived twice`);
  arrivals.put(turn, partition, name, { at: id });
}

/** Writes an operation and its directory entry. */
export function recordOperation(turn: Turn, op: string, row: OperationRow): void {
  const { partition } = turn.self;
  const held = turn.rowView(ledger);
  held.count += operations.get(turn, partition, op) === undefined ? 1 : 0;
  held.created += row.created - (operations.get(turn, partition, op)?.created ?? 0);
  operations.put(turn, partition, op, row);
  turn.direct(takenAt.entry(op, { partition }));
}
