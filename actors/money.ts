import { addDecimals, type Decimal, toDecimal, toNumber } from "./decimal.js";

/** An amount of money. The amount is read as the decimal that it is written as, so that sums are exact up to 15 digits. */
export interface Money {
  readonly amount: number;
  /** ISO 4217 */
  readonly currency: string;
}

/** The sum of two amounts; null when their currencies differ. */
export function addMoney(first: Money, second: Money): Money | null {
  if (first.currency !== second.currency) return null;
  return toMoney(addDecimals(toDecimal(first.amount), toDecimal(second.amount)), first.currency);
}

export function toMoney(amount: Decimal, currency: string): Money {
  return { amount: toNumber(amount), currency };
}
