/**
 * Rows that belong to a row of another table, and go after it: its actor, or its rule, removes the row in one turn
 * ({@link leaveRows}), and the sweeper the rest in slices.
 */
import type { Turn } from "../../runtime/turn.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Entry, KeyPart } from "../../storage/store.js";
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

/** Declares that the rows of a table at `[id]` and under it go with the row `id` of the table `of`. */
export function ownedBy(of: string, rows: Table<unknown>): OwnedRows {
  return owned(of, rows, (turn, { key }) => turn.remove(key));
}

/** The same for a table with indexes, or whose rows refer to bodies. */
export function indexedOwnedBy<Row extends object, Listed extends object>(
  of: string,
  rows: IndexedTable<Row, Listed, Turn>,
): OwnedRows {
  return owned(of, rows, (turn, { value }) => rows.remove(turn, turn.self.partition, value));
}

type OwnedTable<Row> = RetainedTable<Row> & Pick<Table<Row>, "key" | "get">;

function owned<Row>(of: string, rows: OwnedTable<Row>, remove: (turn: Turn, entry: Entry<Row>) => void): OwnedRows {
  const clear = (turn: Turn, id: string, budget: SliceBudget): boolean => {
    const { partition } = turn.self;
    const reading = readPastDamage(turn);
    let removed = 0;
    const clearOne = (entry: Entry<Row>): void => {
      budget.take(entry.value);
      if (turn.attempt(() => remove(turn, entry))) removed += 1;
    };
    const own = rows.get(reading, partition, id);
    if (own !== undefined) clearOne({ key: rows.key(partition, id), value: own });
    let after: readonly KeyPart[] | undefined;
    while (!budget.isSpent) {
      const entries = rows.entries(reading, partition, [id], { limit: READ_AT_ONCE, ...(after && { after }) });
      for (const entry of entries) clearOne(entry);
      if (entries.length < READ_AT_ONCE) return true;
      after = entries.at(-1)?.key.slice(3);
    }
    // What cannot be removed, since that needs a damaged row, stays for the doctor to find.
    return removed === 0;
  };
  return { name: rows.name, of, clear };
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
