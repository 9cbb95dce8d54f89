/**
 * How long rows are stored. A table whose rows end declares its retention rule once, with {@link retain}. In each
 * workspace the sweeper (`retention-sweeper.machine.ts`) removes, in slices, the rows that ended too long ago.
 *
 * 1. A rule walks its table in key order, up to the first row that started after the cutoff. Writing a row needs no
 *   additional write for this.
 * 2. The rule removes a row and its indexes in one turn. If the row has an actor, the actor does this. Later slices
 *   remove the rows that the removed row owned (`owned-rows.ts`). Until then nothing refers to the owned rows.
 * 3. Pinned rows (`pins.ts`) and rows that a rule excludes stay, regardless of the setting.
 * 4. A damaged row stays for the doctor to find. So does a row whose removal needs a damaged row. The walk continues
 *   with the next row.
 * 5. While the clock is fast, rows get times in the future. A walk skips such a row until its time has come. Then the
 *   row counts as young, and the walk stops there, before the older rows behind it. So these older rows are stored
 *   longer than the setting: by the clock's error, but at most by the setting itself.
 */

import type { Turn } from "../../runtime/turns/turn.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Entry, Key, KeyPart, Reading } from "../../storage/store.js";
import type { TablePage } from "../../storage/table.js";
import { cutMark } from "./pruned-before.js";
import type { SliceBudget } from "./slice-budget.js";
import type { StoredTable } from "./stored-table.js";

/** The retention settings: for ended work, facts about work, hook activity, and the change log. */
export type RetentionPeriod = "work" | "facts" | "hooks" | "changes";

/** How long the rows under each setting are stored after they ended, in milliseconds. */
export type RetentionPeriods = Readonly<Record<RetentionPeriod, number>>;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The default retention periods. */
export const defaultRetention: RetentionPeriods = {
  work: 200 * DAY_MS,
  facts: 730 * DAY_MS,
  hooks: 200 * DAY_MS,
  changes: 730 * DAY_MS,
};

/** The table that a rule walks, with or without indexes. */
export interface RetainedTable<Row> extends StoredTable {
  entries(reading: Reading, partition: string, under?: readonly KeyPart[], page?: TablePage): Entry<Row>[];
}

/** Declares when the rows of a table end. */
export interface Retained<Row> {
  readonly period: RetentionPeriod;
  /** Tables whose rules run first in a pass, because their rows can prevent the removal of rows of this table. */
  readonly after?: readonly string[];
  /**
   * Number of key parts before the parts that increase with time; 0 by default. Rows with the same leading parts form
   * one line.
   */
  readonly lineParts?: number;
  /** Cost of checking and removing an ended row, in rows of a slice; 0 by default. */
  readonly cost?: number;
  /** Returns when a row started, in milliseconds since 1970. In each line, rows are ordered by this time. */
  startedAtMs(row: Row): number;
  /** Returns the end of a row; null if it has not ended. */
  endedAtMs(row: Row): number | null;
  /** Whether the row stays for now, regardless of the setting. Reads only. */
  isRetained?(turn: Turn, row: Row): boolean;
  /** Called at the start of a walk. Sets marks that are in the future, because the clock was fast, to now. */
  cutMarks?(turn: Turn): void;
  /**
   * Removes the row, or asks the row's actor to remove it. Returns false if the row stays. The next pass calls this
   * function again while the row exists.
   */
  remove(turn: Turn, row: Row, key: Key): boolean;
}

/** The key after which a walk continues. Null at the start of the table. */
export type WalkPlace = readonly KeyPart[] | null;

/** A slice of a walk. */
export interface WalkSlice {
  readonly cutoffMs: number;
  readonly from: WalkPlace;
  readonly budget: SliceBudget;
}

/** The result of a slice. `next` is the position to continue at; undefined at the end of the walk. */
export interface WalkResult {
  readonly next: WalkPlace | undefined;
  readonly removed: number;
}

/** The retention rule of one table. */
export interface RetentionRule {
  /** The table's name. */
  readonly name: string;
  readonly table: StoredTable;
  readonly period: RetentionPeriod;
  /** Tables whose rules run first in a pass. */
  readonly after: readonly string[];
  sweep(turn: Turn, slice: WalkSlice): WalkResult;
}

/** Number of rows to read in one batch. */
export const READ_AT_ONCE = 16;

/** Creates the rule of a table. */
export function retain<Row>(of: RetainedTable<Row>, retained: Retained<Row>): RetentionRule {
  return {
    name: of.name,
    table: of,
    period: retained.period,
    after: retained.after ?? [],
    sweep: (turn, slice) => walk(of, retained, turn, slice),
  };
}

function walk<Row>(of: RetainedTable<Row>, retained: Retained<Row>, turn: Turn, slice: WalkSlice): WalkResult {
  const { cutoffMs, budget } = slice;
  const { lineParts = 0 } = retained;
  const reading = readPastDamage(turn);
  let { from } = slice;
  let removed = 0;
  if (from === null) {
    cutMark(turn, of.name);
    retained.cutMarks?.(turn);
  }
  for (;;) {
    const page = { limit: READ_AT_ONCE, ...(from === null ? {} : { after: from }) };
    const entries = of.entries(reading, turn.self.partition, [], page);
    const young = entries.findIndex(({ value }) => isYoung(retained.startedAtMs(value), turn.now, cutoffMs));
    for (const { key, value } of young < 0 ? entries : entries.slice(0, young)) {
      from = key.slice(3);
      budget.take(value);
      const endedAtMs = retained.endedAtMs(value);
      if (endedAtMs !== null && endedAtMs < cutoffMs) {
        budget.spend(retained.cost ?? 0);
        // If checking or removing the row needs a damaged row, the row stays.
        turn.attempt(() => {
          if (retained.isRetained?.(turn, value) !== true && retained.remove(turn, value, key)) removed += 1;
        });
      }
      if (budget.isSpent) return { next: from, removed };
    }
    const first = young < 0 ? undefined : entries[young];
    // All later rows of the line are young too, so continue after the line.
    if (first !== undefined) {
      from = first.key.slice(3, 3 + lineParts);
      budget.take(null);
    }
    const isLast = first === undefined ? entries.length < READ_AT_ONCE : lineParts === 0;
    if (isLast) return { next: undefined, removed };
  }
}

function isYoung(startedAtMs: number, now: number, cutoffMs: number): boolean {
  return startedAtMs >= cutoffMs && startedAtMs <= now;
}
