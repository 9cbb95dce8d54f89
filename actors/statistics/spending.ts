import { add, compare, decimal, divide, type Fraction, fraction, multiply } from "../fraction.js";
import { type Money, sumMoney, toAmount } from "../money.js";
import { type Copy, isScored } from "./copy.js";

/** What a copy cost. */
export interface PricedCopy extends Copy {
  /** What its attempts reported, with its first judging; null when nothing was reported. */
  readonly spent: Money | null;
  /** Every attempt that began its agent reported its cost, in the currency of the replay's ceiling. */
  readonly priced: boolean;
}

/** What a replay cost (document 2, "Replay (read)": `totals`; "Candidate of a search": `costPerRun`). */
export interface Spending {
  readonly spent: Money;
  /** What was spent, by scored copy. Null when any copy is unpriced or in another currency, and while none is scored. */
  readonly costPerRun: Money | null;
}

/** `currency` is the ceiling's; amounts in another count as unpriced. */
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

/** A replay's ceiling, and what it is divided by for one unpriced copy. */
export interface CeilingOf {
  readonly ceiling: Money;
  /** The runs replayed, and the copies of each. */
  readonly runs: number;
  readonly repeats: number;
}

/** What an unpriced copy counts against the ceiling (document 2, "Replay check (record)": `threshold.unpricedRun`). */
export function unpricedRun({ ceiling, runs, repeats }: CeilingOf): Fraction {
  return divide(decimal(ceiling.amount), fraction(runs * repeats));
}

/**
 * What counts against a replay's ceiling: what its copies reported, once more {@link unpricedRun} for each that is
 * unpriced, and what was spent besides (second judgings, pairs, estimates of model calls under way).
 */
export function countedSpend(copies: readonly PricedCopy[], of: CeilingOf, besides: readonly Money[] = []): Fraction {
  const { currency } = of.ceiling;
  const reported = sumMoney([...copies.flatMap((copy) => copy.spent ?? []), ...besides], currency);
  const unpriced = copies.filter((copy) => !isPriced(copy, currency)).length;
  return add(reported, multiply(fraction(unpriced), unpricedRun(of)));
}

/** At its ceiling a replay starts no more copies (document 2, "Replay checks API": ceiling). */
export function reachesCeiling(counted: Fraction, ceiling: Money): boolean {
  return compare(counted, decimal(ceiling.amount)) >= 0;
}
