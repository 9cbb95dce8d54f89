import { InvalidArgumentError } from "commander";
import type { Schema } from "../../client/entry.js";

/** Reads and formats the figures of replays and searches. `--json` prints them unrounded. */

/** An amount in a currency (ISO 4217). */
export type Money = Schema<"Replay">["ceiling"];

/** A figure with its 95 % interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Parses an amount such as `2USD`, `0.50 EUR` or `2usd`. Throws an `InvalidArgumentError`, which commander reports. */
export function parseMoney(text: string): Money {
  const [, amount = "", currency = ""] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]{3})$/.exec(text.trim()) ?? [];
  if (currency === "") throw new InvalidArgumentError("It must be an amount with its currency, such as 2USD.");
  return { amount: Number(amount), currency: currency.toUpperCase() };
}

/** Formats a share with at most one decimal: `87.5 %`; `unknown` for null. */
export function toPercent(share: number | null): string {
  return share === null ? "unknown" : `${hundred(share)} %`;
}

/** Formats a difference of shares in percentage points, with its sign: `+37.5`. */
export function toPoints(share: number): string {
  const points = hundred(share);
  return points > 0 ? `+${points}` : String(points);
}

/** Formats an interval: `[13, 75]`. */
export function toRange({ low, high }: Interval): string {
  return `[${hundred(low)}, ${hundred(high)}]`;
}

function hundred(share: number): number {
  // Adding 0 turns -0 into 0.
  return Number((100 * share).toFixed(1)) + 0;
}

/** Formats money with at most six significant digits: `0.06 USD`; `unknown` for null. */
export function toMoney(money: Money | null): string {
  return money === null ? "unknown" : `${toAmount(money.amount)} ${money.currency}`;
}

/** Formats an amount with at most six significant digits. */
export function toAmount(amount: number): string {
  return String(Number(amount.toPrecision(6)));
}

/** Compares the costs of two sides: `0.06 against 0.04 USD per run`. `per` names the unit. */
export function toCosts(own: Money | null, other: Money | null, per: "per run" | "a run" = "per run"): string {
  if (own !== null && own.currency === other?.currency) {
    return `${toAmount(own.amount)} against ${toMoney(other)} ${per}`;
  }
  return own === null && other === null ? "unknown cost" : `${toMoney(own)} against ${toMoney(other)} ${per}`;
}

/** Counts things: `1 task`, `8 tasks`, `2 copies`. */
export function toCount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The remark on a figure over too few tasks. */
export const FEW = "too few tasks to trust";
