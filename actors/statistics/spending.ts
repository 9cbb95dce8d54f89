import { add, compare, decimal, divide, type Fraction, fraction, multiply } from "../fraction.js";
import { type Money, sumMoney, toAmount } from "../money.js";
import { type Copy, isScored } from "./copy.js";

/** A copy with its cost. */
export interface PricedCopy extends Copy {
  /** The cost that the copy's attempts reported, including the first judging; null if nothing was reported. */
  readonly spent: Money | null;
  /** Whether every attempt that started its agent reported its cost, in the currency of the replay's ceiling. */
  readonly priced: boolean;
}

/** The cost of a replay (document 2, "Replay (read)": `totals`; "Candidate of a search": `costPerRun`). */
export interface Spending {
  readonly spent: Money;
  /** The cost per scored copy. Null while no copy is scored, and if any copy is unpriced or in another currency. */
  readonly costPerRun: Money | null;
}

/** Computes the spending of copies. `currency` is the ceiling's. An amount in another currency counts as unpriced. */
export function countSpending(copies: readonly PricedCopy[], currency: string): Spending {
  const spent = sumMoney(
    copies.flatMap((copy) => copy.spent ?? []),
    currency,
  );
  const scored = copies.filter(isScored).length;
  const isKnown = scored > 0 && copies.every((copy) => isPriced(copy, currency));
  return {
    spent: { amount: toAmount(spent), currency },
    costPerRun: isKnown ? { amount: toAmount(divide(spent, fraction(scored))), currency } : null,
  };
}

function isPriced({ spent, priced }: PricedCopy, currency: string): boolean {
  return priced && (spent === null || spent.currency === currency);
}

/**
 * A replay's ceiling, and the numbers of runs and repeats. Each unpriced copy counts as an equal share of the ceiling.
 */
export interface CeilingOf {
  readonly ceiling: Money;
  /** The number of replayed runs, and the number of copies of each run. */
  readonly runs: number;
  readonly repeats: number;
}

/**
 * The amount that counts against the ceiling for each unpriced copy (document 2, "Replay check (record)":
 * `threshold.unpricedRun`).
 */
export function unpricedRun({ ceiling, runs, repeats }: CeilingOf): Fraction {
  return divide(decimal(ceiling.amount), fraction(runs * repeats));
}

/**
 * The amount that counts against a replay's ceiling, the sum of these amounts:
 * - the reported costs of its copies;
 * - {@link unpricedRun} for each unpriced copy;
 * - `besides`: other spending, such as second judgings, pairs, and estimates of model calls in progress.
 */
export function countedSpend(copies: readonly PricedCopy[], of: CeilingOf, besides: readonly Money[] = []): Fraction {
  const { currency } = of.ceiling;
  const reported = sumMoney([...copies.flatMap((copy) => copy.spent ?? []), ...besides], currency);
  const unpriced = copies.filter((copy) => !isPriced(copy, currency)).length;
  return add(reported, multiply(fraction(unpriced), unpricedRun(of)));
}

/**
 * Whether the spending reaches the ceiling. The replay then starts no more copies (document 2, "Replay checks API":
 * ceiling).
 */
export function reachesCeiling(counted: Fraction, ceiling: Money): boolean {
  return compare(counted, decimal(ceiling.amount)) >= 0;
}
