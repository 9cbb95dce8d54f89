import { divide, type Fraction, fraction, toText } from "../../fraction.js";
import { type Money, sumMoney, toAmount } from "../../money.js";
import { type MeasuredCopy, tallyPairs } from "../../statistics/comparison.js";
import { groupByTask, isScored, successRate, successShare, taskShares } from "../../statistics/copy.js";
import { successGain } from "../../statistics/gain.js";
import { countSpending } from "../../statistics/spending.js";
import { successInterval } from "../../statistics/success.js";
import type { Stored } from "../../view.js";
import type { heldOutFiguresSchema, searchedFiguresSchema } from "../reads/figure-schemas.js";
import { type CostPair, compareHeldOutCosts } from "./held-out-cost.js";

/** A config's results on one searched task, as fractions (`toText`). */
export interface TaskFigures {
  readonly taskId: string;
  /** The share of the task's scored copies that succeeded; null if none is scored. */
  readonly share: string | null;
  /** The cost per scored copy, by the rules of `costPerRun`; null if it is unknown. */
  readonly cost: string | null;
}

/**
 * The results of a candidate or the seed on the searched runs (document 2, "Candidate of a search"). Plain data, stored
 * with the candidate. Values that decisions depend on are stored as exact fractions (`toText`) beside the displayed
 * values.
 */
export interface SearchedFigures extends Stored<typeof searchedFiguresSchema> {
  /** Spending on the searched runs. */
  readonly searchedSpent: Money;
  /** The exact `searchScore`, and the exact amount of `costPerRun`; each is null if the displayed value is null. */
  readonly score: string | null;
  readonly cost: string | null;
  /** The searched tasks, ordered by id. */
  readonly tasks: readonly TaskFigures[];
}

/** The results of a candidate or the seed on the held-out runs. */
export interface HeldOutFigures extends Stored<typeof heldOutFiguresSchema> {
  readonly heldOutSpent: Money;
}

/** The data that figures are measured against. */
export interface FiguresTerms {
  /** The seed's copies of the same runs; null if the seed itself is measured. */
  readonly seed: readonly MeasuredCopy[] | null;
  readonly minGain: number;
  /** The currency of the search's ceiling. */
  readonly currency: string;
}

/** Measures the results on searched runs. `copies` and the seed's copies must contain only searched runs. */
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
    costPerRun,
    searchedSpent: spent,
    score: toTextOrNull(score),
    cost: toTextOrNull(costByRun(copies, currency)),
    tasks: [...groupByTask(copies)].map(([taskId, ofTask]) => ({
      taskId,
      share: toTextOrNull(successShare(ofTask)),
      cost: toTextOrNull(costByRun(ofTask, currency)),
    })),
  };
}

/**
 * Measures the results on held-out runs. `copies` and the seed's copies must contain only held-out runs. `bothFinished`
 * says whether both replays finished.
 */
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

/** Lists the two costs of each task whose cost is known on both sides. */
function pairCosts(own: readonly MeasuredCopy[], other: readonly MeasuredCopy[], currency: string): CostPair[] {
  const before = groupByTask(other);
  return [...groupByTask(own)].flatMap(([taskId, copies]) => {
    const [cost, seed] = [costByRun(copies, currency), costByRun(before.get(taskId) ?? [], currency)];
    return cost === null || seed === null ? [] : [{ own: cost, seed }];
  });
}

/**
 * Returns the exact spending per scored copy, which {@link countSpending} rounds for display. Returns null if it is
 * unknown.
 */
function costByRun(copies: readonly MeasuredCopy[], currency: string): Fraction | null {
  if (countSpending(copies, currency).costPerRun === null) return null;
  const spent = sumMoney(
    copies.flatMap((copy) => copy.spent ?? []),
    currency,
  );
  return divide(spent, fraction(copies.filter(isScored).length));
}

/** Returns a candidate's spending on searched runs, plus its spending on held-out runs once it has held-out figures. */
export function sumSpent(searched: SearchedFigures, heldOut: HeldOutFigures | null): Money {
  const { currency } = searched.searchedSpent;
  const parts = heldOut === null ? [searched.searchedSpent] : [searched.searchedSpent, heldOut.heldOutSpent];
  return { amount: toAmount(sumMoney(parts, currency)), currency };
}

function toTextOrNull(value: Fraction | null): string | null {
  return value === null ? null : toText(value);
}
