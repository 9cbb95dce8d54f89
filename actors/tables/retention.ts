/**
 * How long rows are stored. A table whose rows end declares it here, once; the sweeper of each workspace
 * (`retention-sweeper.machine.ts`) removes what ended longer ago than the setting says, in slices.
 *
 * 1. A rule walks its table in the order of its keys, as far as rows began before the cutoff. Nothing is written for
 *    this when a row is written.
 * 2. A row is removed with its indexes in one turn: by the rule, or by its actor when it has one. Rows that belong to it
 *    are removed in later slices (`owned-rows.ts`); until then nothing leads to them.
 * 3. What is pinned (`pins.ts`), and what a rule keeps, stays whatever the setting says.
 * 4. A damaged row, and one whose removal needs a damaged row, stays for the doctor to find; the walk goes past it.
 * 5. A clock that was ahead leaves rows of the future. A walk goes past them, as they say nothing of what stands behind
 *    them. Once their time has come they are young as others are, and what stands behind them waits for them: longer than
 *    the setting says by as much as the clock was ahead, but never by more than the setting.
 */

import type { Turn } from "../../runtime/turn.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Entry, Key, KeyPart, Reading } from "../../storage/store.js";
import type { TablePage } from "../../storage/table.js";
import { cutMark } from "./pruned-before.js";
import type { SliceBudget } from "./slice-budget.js";

/** The settings: for ended work, for the facts of it, for what hooks did, for the change log. */
export type RetentionPeriod = "work" | "facts" | "hooks" | "changes";

/** How long each is stored after its end, in milliseconds. */
export type RetentionPeriods = Readonly<Record<RetentionPeriod, number>>;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Insights read 180 days back. */
export const defaultRetention: RetentionPeriods = {
  ...{ work: 200 * DAY_MS, facts: 730 * DAY_MS },
  ...{ hooks: 200 * DAY_MS, changes: 730 * DAY_MS },
};

/** What a rule walks: a table, or one with indexes. */
export interface RetainedTable<Row> {
  readonly name: string;
  entries(reading: Reading, partition: string, under?: readonly KeyPart[], page?: TablePage): Entry<Row>[];
}

/** When the rows of a table end. */
export interface Retained<Row> {
  readonly period: RetentionPeriod;
  /** Number of key parts before those that rise with time: rows that share them are one line. None by default. */
  readonly lineParts?: number;
  /** What it costs to look into a row that ended and to remove it, in rows of a slice; none by default. */
  readonly cost?: number;
  /** When a row began, in milliseconds since 1970. The rows of a line are in this order. */
  begunAtMs(row: Row): number;
  /** When it ended; null while it has not. */
  endedAtMs(row: Row): number | null;
  /** Whether it stays for now, whatever the setting says. Reads only. */
  isKept?(turn: Turn, row: Row): boolean;
  /** Called when a walk begins: cuts to now what a clock that was ahead left in the future. */
  cutMarks?(turn: Turn): void;
  /** Removes the row, or tells its actor to; false when it stays. Called again when it is there in the next pass. */
  remove(turn: Turn, row: Row, key: Key): boolean;
}

/** Where a walk goes on: after this key of its table. Null at its beginning. */
export type WalkPlace = readonly KeyPart[] | null;

/** A slice of a walk. */
export interface WalkSlice {
  readonly cutoffMs: number;
  readonly from: WalkPlace;
  readonly budget: SliceBudget;
}

/** How far a slice came: `next` is where to go on, undefined when the walk is over. */
export interface WalkResult {
  readonly next: WalkPlace | undefined;
  readonly removed: number;
}

/** The retention of one table. */
export interface RetentionRule {
  /** The table's name. */
  readonly name: string;
  readonly period: RetentionPeriod;
  sweep(turn: Turn, slice: WalkSlice): WalkResult;
}

/** Rows read at once. */
export const READ_AT_ONCE = 16;

/** The rule of a table. */
export function retain<Row>(of: RetainedTable<Row>, retained: Retained<Row>): RetentionRule {
  return {
    name: of.name,
    period: retained.period,
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
    const young = entries.findIndex(({ value }) => isYoung(retained.begunAtMs(value), turn.now, cutoffMs));
    for (const { key, value } of young < 0 ? entries : entries.slice(0, young)) {
      from = key.slice(3);
      budget.take(value);
      const endedAtMs = retained.endedAtMs(value);
      if (endedAtMs !== null && endedAtMs < cutoffMs) {
        budget.spend(retained.cost ?? 0);
        // A row that cannot be judged or removed, since that needs a damaged one, stays.
        turn.attempt(() => {
          if (retained.isKept?.(turn, value) !== true && retained.remove(turn, value, key)) removed += 1;
        });
      }
      if (budget.isSpent) return { next: from, removed };
    }
    const first = young < 0 ? undefined : entries[young];
    // All later rows of the line began later.
    if (first !== undefined) {
      from = first.key.slice(3, 3 + lineParts);
      budget.take(null);
    }
    const isLast = first === undefined ? entries.length < READ_AT_ONCE : lineParts === 0;
    if (isLast) return { next: undefined, removed };
  }
}

function isYoung(begunAtMs: number, now: number, cutoffMs: number): boolean {
  return begunAtMs >= cutoffMs && begunAtMs <= now;
}
