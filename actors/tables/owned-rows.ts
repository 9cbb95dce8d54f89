/**
 * Rows that belong to a row of another table, and go after it: its actor, or its rule, removes the row in one turn
 * ({@link leaveRows}), and the sweeper the rest in slices.
 */
import type { Turn } from "../../runtime/turn.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Entry } from "../../storage/store.js";
import { type Table, table } from "../../storage/table.js";
import type { IndexedTable } from "./indexed-table.js";
import { READ_AT_ONCE, type RetainedTable } from "./retention.js";
import type { SliceBudget } from "./slice-budget.js";

/** Rows that belong to a row of another table, under its id, and are removed after it. */
export interface OwnedRows {
  readonly name: string;
  /** The table of the owners. */
  readonly of: string;
  /** Removes rows of an owner; true when none is left. */
  clear(turn: Turn, id: string, budget: SliceBudget): boolean;
}

/** Declares that the rows of a table under `[id]` go with the row `id` of the table `of`. */
export function ownedBy(of: string, rows: Table<unknown>): OwnedRows {
  return {
    ...{ name: rows.name, of },
    clear: (turn, id, budget) =>
      clearRows(rows, turn, id, budget, ({ key }) => {
        turn.remove(key);
      }),
  };
}

/** The same for a table with indexes, or whose rows refer to bodies. */
export function indexedOwnedBy<Row extends object, Listed extends object>(
  of: string,
  rows: IndexedTable<Row, Listed, Turn>,
): OwnedRows {
  return {
    ...{ name: rows.name, of },
    clear: (turn, id, budget) =>
      clearRows(rows, turn, id, budget, ({ value }) => rows.remove(turn, turn.self.partition, value)),
  };
}

function clearRows<Row>(
  rows: RetainedTable<Row>,
  turn: Turn,
  id: string,
  budget: SliceBudget,
  remove: (entry: Entry<Row>) => void,
): boolean {
  const { partition } = turn.self;
  for (;;) {
    if (budget.isSpent) return false;
    const entries = rows.entries(readPastDamage(turn), partition, [id], { limit: READ_AT_ONCE });
    for (const entry of entries) {
      budget.take(entry.value);
      remove(entry);
    }
    if (entries.length < READ_AT_ONCE) return true;
  }
}

/** `[table, id]` -> true: rows of this owner, which was removed, are still to be removed. */
const leftRows = table<true>("retention-left");

/** Leaves the rows that belong to a removed row to the sweeper. In the turn that removes the row. */
export function leaveRows(turn: Turn, of: string, id: string): void {
  leftRows.put(turn, turn.self.partition, [of, id], true);
}

/** Removes rows whose owners were removed; true when none is left. */
export function clearLeftRows(turn: Turn, owned: readonly OwnedRows[], budget: SliceBudget): boolean {
  for (;;) {
    const [left] = leftRows.entries(turn, turn.self.partition, [], { limit: 1 });
    if (left === undefined) return true;
    const [of = "", id = ""] = left.key.slice(3).map(String);
    const isClear = owned.every((rows) => rows.of !== of || rows.clear(turn, id, budget));
    if (!isClear) return false;
    budget.take(null);
    turn.remove(left.key);
    if (budget.isSpent) return false;
  }
}
