import { divide, type Fraction, fraction, toText } from "../../fraction.js";
import { type Money, sumMoney, toAmount } from "../../money.js";
import { type MeasuredCopy, type PairTally, tallyPairs } from "../../statistics/comparison.js";
import { groupByTask, isScored, successRate, successShare, taskShares } from "../../statistics/copy.js";
import { type Gain, successGain } from "../../statistics/gain.js";
import { countSpending } from "../../statistics/spending.js";
import { type Interval, successInterval } from "../../statistics/success.js";
import { type CostPair, compareHeldOutCosts, type HeldOutCost } from "./held-out-cost.js";

/** How a config did on one searched task, as fractions (`toText`). */
export interface TaskFigures {
  readonly taskId: string;
  /** The share of its scored copies that succeeded; null when none is scored. */
  readonly share: string | null;
  /** What one of its scored copies cost, by the rules of `costPerRun`. */
  readonly cost: string | null;
}

/**
 * How a candidate, or the seed, did on the searched runs (document 2, "Candidate of a search"). Plain data, stored with
 * the candidate: what decides is kept as fractions (`toText`) beside what is shown.
 */
export interface SearchedFigures {
  /** From 0 to 1; null while nothing is scored, as `searchInterval`. */
  readonly searchScore: number | null;
  readonly searchInterval: Interval | null;
  /** How many copies were scored, and of how many tasks. */
  readonly searchScored: number;
  readonly searchTasks: number;
  /** Over the seed; null for the seed, and when no task was scored on both sides. */
  readonly searchedGain: Gain | null;
  /** Null for the seed. */
  readonly searchedPairs: PairTally | null;
  /** What was spent by scored copy; null when any was unpriced or in another currency, and when none is scored. */
  readonly costPerRun: Money | null;
  /** What was spent on the searched runs. */
  readonly searchedSpent: Money;
  /** `searchScore` and the amount of `costPerRun`, exactly. */
  readonly score: string | null;
  readonly cost: string | null;
  /** Each searched task, in the order of their ids. */
  readonly tasks: readonly TaskFigures[];
}

/** How a candidate, or the seed, did on the held-out runs. */
export interface HeldOutFigures {
  readonly heldOutScore: number | null;
  readonly heldOutInterval: Interval | null;
  /** How many copies were scored, and of how many tasks. */
  readonly heldOutScored: number;
  readonly heldOutTasks: number;
  /** Over the seed; null for the seed, until both replays finished, and when no task was scored on both sides. */
  readonly heldOutGain: Gain | null;
  readonly heldOutPairs: PairTally | null;
  /** Beside the seed; known when `heldOutGain` may be, and when a task's cost is known on both sides. */
  readonly heldOutCost: HeldOutCost | null;
  readonly heldOutSpent: Money;
}

/** What figures are measured against. */
export interface FiguresTerms {
  /** The seed's copies of the same runs; null when the seed itself is measured. */
  readonly seed: readonly MeasuredCopy[] | null;
  readonly minGain: number;
  /** The currency of the search's ceiling. */
  readonly currency: string;
}

/** `copies` are those of the searched runs alone; so are the seed's. */
export function measureSearched(copies: readonly MeasuredCopy[], terms: FiguresTerms): SearchedFigures {
  const { seed, minGain, currency } = terms;
  const { spent, costPerRun } = countSpending(copies, currency);
  const score = successRate(copies);
  const interval = successInterval(copies);
  return {
    searchScore: interval?.rate ?? null,
    searchInterval: interval,
    searchScored: copies.filter(isScored).length,
    searchTasks: taskShares(copies).size,
    searchedGain: seed === null ? null : successGain(copies, seed, minGain),
    searchedPairs: seed === null ? null : tallyPairs(copies),
    ...{ costPerRun, searchedSpent: spent },
    score: toTextOrNull(score),
    cost: toTextOrNull(costByRun(copies, currency)),
    tasks: [...groupByTask(copies)].map(([taskId, ofTask]) => ({
      taskId,
      share: toTextOrNull(successShare(ofTask)),
      cost: toTextOrNull(costByRun(ofTask, currency)),
    })),
  };
}

/** `copies` are those of the held-out runs alone; so are the seed's. `bothFinished`: both replays of them did. */
export function measureHeldOut(
  copies: readonly MeasuredCopy[],
  { seed, minGain, currency, bothFinished }: FiguresTerms & { readonly bothFinished: boolean },
): HeldOutFigures {
  const interval = successInterval(copies);
  return {
    heldOutScore: interval?.rate ?? null,
    heldOutInterval: interval,
    heldOutScored: copies.filter(isScored).length,
    heldOutTasks: taskShares(copies).size,
    heldOutGain: seed === null || !bothFinished ? null : successGain(copies, seed, minGain),
    heldOutPairs: seed === null ? null : tallyPairs(copies),
    heldOutCost: seed === null || !bothFinished ? null : compareHeldOutCosts(pairCosts(copies, seed, currency)),
    heldOutSpent: countSpending(copies, currency).spent,
  };
}

/** The tasks whose cost is known on both sides. */
function pairCosts(own: readonly MeasuredCopy[], other: readonly MeasuredCopy[], currency: string): CostPair[] {
  const before = groupByTask(other);
  return [...groupByTask(own)].flatMap(([taskId, copies]) => {
    const [cost, seed] = [costByRun(copies, currency), costByRun(before.get(taskId) ?? [], currency)];
    return cost === null || seed === null ? [] : [{ own: cost, seed }];
  });
}

/** What was spent by scored copy, exactly: `countSpending` rounds it to be shown. */
function costByRun(copies: readonly MeasuredCopy[], currency: string): Fraction | null {
  if (countSpending(copies, currency).costPerRun === null) return null;
  const spent = sumMoney(
    copies.flatMap((copy) => copy.spent ?? []),
    currency,
  );
  return divide(spent, fraction(copies.filter(isScored).length));
}

/** What a candidate spent: on searched runs, and on held-out ones once these are replayed. */
export function sumSpent(searched: SearchedFigures, heldOut: HeldOutFigures | null): Money {
  const { currency } = searched.searchedSpent;
  const parts = heldOut === null ? [searched.searchedSpent] : [searched.searchedSpent, heldOut.heldOutSpent];
  return { amount: toAmount(sumMoney(parts, currency)), currency };
}

function toTextOrNull(value: Fraction | null): string | null {
  return value === null ? null : toText(value);
}
