import { type TaskOutcome, taskOutcomes } from "../../run-facts/run-outcome.table.js";

/** The fields of a run that its set's composition needs. */
export interface ComposedRun {
  readonly outcome: TaskOutcome;
  /** Null if unknown. */
  readonly origin: string | null;
  readonly endedAt: string | null;
}

/** The composition of a set's runs. */
export interface Composition {
  /** All outcomes, in their standard order. */
  readonly outcomes: readonly { readonly outcome: TaskOutcome; readonly count: number }[];
  /** The origins that occur, with the most runs first, then by name. */
  readonly origins: readonly { readonly origin: string; readonly count: number }[];
  /**
   * The earliest, median and latest end of the runs; null if no run has an end. For an even number of runs, the median
   * is the earlier of the two in the middle.
   */
  readonly oldest: string | null;
  readonly median: string | null;
  readonly newest: string | null;
  readonly balanceWarning: BalanceWarning | null;
}

interface BalanceWarning {
  readonly dominant: TaskOutcome;
  readonly count: number;
  readonly entries: number;
}

/** Minimum number of runs in a set for a balance warning. */
const MIN_BALANCED = 6;

/** Computes the composition of a set's runs, which may be in any order. */
export function composeRuns(runs: readonly ComposedRun[]): Composition {
  const outcomes = countOutcomes(runs);
  const ends = runs.flatMap(({ endedAt }) => endedAt ?? []).sort();
  return {
    outcomes,
    origins: countOrigins(runs),
    oldest: ends[0] ?? null,
    median: ends[Math.ceil(ends.length / 2) - 1] ?? null,
    newest: ends.at(-1) ?? null,
    balanceWarning: findImbalance(outcomes, runs.length),
  };
}

/** Counts the runs with each outcome, in the standard order of outcomes. */
export function countOutcomes(runs: readonly Pick<ComposedRun, "outcome">[]): Composition["outcomes"] {
  return taskOutcomes.map((outcome) => ({ outcome, count: runs.filter((run) => run.outcome === outcome).length }));
}

function countOrigins(runs: readonly ComposedRun[]): Composition["origins"] {
  const counts = new Map<string, number>();
  for (const { origin } of runs) counts.set(origin ?? "unknown", (counts.get(origin ?? "unknown") ?? 0) + 1);
  return [...counts]
    .map(([origin, count]) => ({ origin, count }))
    .sort((left, right) => right.count - left.count || (left.origin < right.origin ? -1 : 1));
}

function findImbalance(outcomes: Composition["outcomes"], entries: number): BalanceWarning | null {
  if (entries < MIN_BALANCED) return null;
  const dominant = outcomes.find(({ outcome, count }) => outcome !== "other" && 3 * count > 2 * entries);
  return dominant === undefined ? null : { dominant: dominant.outcome, count: dominant.count, entries };
}
