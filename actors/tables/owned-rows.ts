/**
 * Owned rows: rows that belong to a row of another table, their owner, and are removed after it. One turn removes the
 * owner ({@link releaseRows}). Then the sweeper removes the owned rows in slices.
 */
import type { Turn } from "../../runtime/turns/turn.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Entry, KeyPart } from "../../storage/store.js";
import { type Table, table } from "../../storage/table.js";
import type { IndexedTable } from "./indexed-table.js";
import { READ_AT_ONCE, type RetainedTable } from "./retention.js";
import type { SliceBudget } from "./slice-budget.js";
import type { StoredTable } from "./stored-table.js";

/** Rows that belong to a row of another table. Their keys start with the id of this owner. */
export interface OwnedRows {
  readonly name: string;
  readonly table: StoredTable;
  /** The name of the owners' table. */
  readonly of: string;
  /** Removes rows of an owner. Returns true if no more can be removed. */
  clear(turn: Turn, id: string, budget: SliceBudget): boolean;
}

/**
 * Declares owned rows of a table: the rows whose keys start with `id`. They are removed after the row `id` of the table
 * `of`.
 */
export function ownedBy(of: string, rows: Table<unknown>): OwnedRows {
  return owned(of, rows, (turn, { key }) => turn.remove(key));
}

/** Like {@link ownedBy}, for a table with indexes, or whose rows refer to bodies. */
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
    // A row stays for the doctor to find if its removal needs a damaged row. If only such rows are left, no more rows
    // can be removed.
    return removed === 0;
  };
  return { name: rows.name, table: rows, of, clear };
}

/** Key: `[table, id]`. Value: true. Exists while the owner is removed but some of its owned rows are not. */
export const leftRows = table<true>("retention-left");

/**
 * Marks the owned rows of a removed owner for the sweeper, which then removes them. Call it in the turn that removes
 * the owner.
 */
export function releaseRows(turn: Turn, of: string, id: string): void {
  leftRows.put(turn, turn.self.partition, [of, id], true);
}

/** Removes rows whose owners were removed. Returns true if no more such rows can be removed. */
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
