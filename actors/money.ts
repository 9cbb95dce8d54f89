import { decimal, type Fraction, sum, toNumber } from "./fraction.js";

/** An amount of money. The amount is read as the decimal that it is written as, so that sums are exact. */
export interface Money {
  readonly amount: number;
  /** ISO 4217 */
  readonly currency: string;
}

/** The sum of the amounts in a currency; amounts in others do not count. */
export function sumMoney(parts: readonly Money[], currency: string): Fraction {
  return sum(parts.filter((part) => part.currency === currency).map(({ amount }) => decimal(amount)));
}

/** The sum of two amounts; null when their currencies differ. */
export function addMoney(first: Money, second: Money): Money | null {
  const { currency } = first;
  return second.currency === currency ? { amount: toNumber(sumMoney([first, second], currency)), currency } : null;
}
