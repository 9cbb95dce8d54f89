import { decimal, type Fraction, sum, toNumber, ZERO } from "./fraction.js";

/** An amount of money. Sums are exact, because they use the decimal form of each amount. */
export interface Money {
  readonly amount: number;
  /** ISO 4217 */
  readonly currency: string;
}

/** Maximum of a reported amount and of a sum, in the currency's unit. */
export const MAX_AMOUNT = 1_000_000_000;

/** Minimum amount, in the currency's unit. A smaller amount counts as 0. */
const LEAST_AMOUNT = 1e-9;

/**
 * Limits an amount to {@link MAX_AMOUNT}. Sums in rows of earlier releases may be greater, or not finite. An amount
 * below {@link LEAST_AMOUNT} becomes 0.
 */
export function boundAmount(amount: number): number {
  if (!Number.isFinite(amount)) return MAX_AMOUNT;
  return amount < LEAST_AMOUNT ? 0 : Math.min(MAX_AMOUNT, amount);
}

/** Limits an amount of money, to store or display it. */
export function boundMoney<Some extends Money | null>(money: Some): Some {
  return money === null ? money : { ...money, amount: boundAmount(money.amount) };
}

/** Converts a sum to an amount, at most {@link MAX_AMOUNT}. */
export function toAmount(total: Fraction): number {
  return Math.min(MAX_AMOUNT, toNumber(total));
}

/**
 * Returns the amount of the money; 0 if `money` is null or in another currency. Never throws, whatever amount a row
 * contains.
 */
export function amountIn(money: Money | null, currency: string): Fraction {
  return money?.currency === currency ? decimal(boundAmount(money.amount)) : ZERO;
}

/** The sum of the amounts in a currency. Amounts in other currencies do not count. */
export function sumMoney(parts: readonly Money[], currency: string): Fraction {
  return sum(parts.map((part) => amountIn(part, currency)));
}

/** Adds two amounts, up to {@link MAX_AMOUNT}. Returns null if their currencies differ. */
export function addMoney(first: Money, second: Money): Money | null {
  const { currency } = first;
  return second.currency === currency ? { amount: toAmount(sumMoney([first, second], currency)), currency } : null;
}
