import { decimal, type Fraction, sum, toNumber, ZERO } from "./fraction.js";

/** An amount of money. The amount is read as the decimal that it is written as, so that sums are exact. */
export interface Money {
  readonly amount: number;
  /** ISO 4217 */
  readonly currency: string;
}

/** The most that an amount is, in its currency's unit: what is reported, and every sum, ends there. */
export const MAX_AMOUNT = 1_000_000_000;

/** What is below it counts nothing, in a currency's unit. */
const LEAST_AMOUNT = 1e-9;

/**
 * What an amount counts: {@link MAX_AMOUNT} when it is more or not finite, as sums of earlier releases may be in rows;
 * 0 when it is below a billionth.
 */
export function boundAmount(amount: number): number {
  if (!Number.isFinite(amount)) return MAX_AMOUNT;
  return amount < LEAST_AMOUNT ? 0 : Math.min(MAX_AMOUNT, amount);
}

/** Money with its amount bounded, to be stored or shown. */
export function boundMoney<Some extends Money | null>(money: Some): Some {
  return money === null ? money : { ...money, amount: boundAmount(money.amount) };
}

/** A sum as an amount; more than {@link MAX_AMOUNT} becomes that. */
export function toAmount(total: Fraction): number {
  return Math.min(MAX_AMOUNT, toNumber(total));
}

/** What money counts in a currency: nothing when it is in another. Never throws, whatever the row of it holds. */
export function amountIn(money: Money | null, currency: string): Fraction {
  return money?.currency === currency ? decimal(boundAmount(money.amount)) : ZERO;
}

/** The sum of the amounts in a currency; amounts in others do not count. */
export function sumMoney(parts: readonly Money[], currency: string): Fraction {
  return sum(parts.map((part) => amountIn(part, currency)));
}

/** The sum of two amounts, at most {@link MAX_AMOUNT}; null when their currencies differ. */
export function addMoney(first: Money, second: Money): Money | null {
  const { currency } = first;
  return second.currency === currency ? { amount: toAmount(sumMoney([first, second], currency)), currency } : null;
}
