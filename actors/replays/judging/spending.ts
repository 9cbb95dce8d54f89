import { add, compare, decimal, type Fraction, fromText, subtract, toText, ZERO } from "../../fraction.js";
import { amountIn, type Money } from "../../money.js";
import { addModelSpent, type ModelSpent } from "../../outbound/models/model-cost.js";
import { type BudgetLeft, countSpent } from "../budget/replay-ceiling.js";
import type { ReplayRow } from "../replay/replay.js";

/**
 * Whether a cost fits under the replay's ceiling and its search's ceiling. A cost that counts as 0 always fits: null,
 * or an amount in a currency other than the ceiling's.
 */
export function fitsBudget(replay: ReplayRow, cost: Money | null, budget: BudgetLeft | null): boolean {
  const count = amountIn(cost, replay.ceiling.currency);
  if (compare(count, ZERO) === 0) return true;
  const counted = add(countSpent(replay), count);
  const fits = (all: Fraction, ceiling: Money) => compare(all, decimal(ceiling.amount)) <= 0;
  return fits(counted, replay.ceiling) && (budget === null || fits(add(counted, budget.others), budget.ceiling));
}

/**
 * Replaces the amount `before` with `now` in `spending.besides`. A cost in a currency other than the ceiling's counts
 * as 0, and so does null, the cost of a model without a price.
 */
export function recount(replay: ReplayRow, before: Money | null, now: Money | null): ReplayRow {
  const { currency } = replay.ceiling;
  const others = subtract(fromText(replay.spending.besides), amountIn(before, currency));
  const besides = add(others, amountIn(now, currency));
  return { ...replay, spending: { ...replay.spending, besides: toText(besides) } };
}

/** The spending before the first attempt to ask. */
export const NOTHING_SPENT: ModelSpent = { calls: 0, cost: null, isEstimate: false };

/** Adds another attempt to the spending. */
export function addAsking(spent: ModelSpent, asking: ModelSpent): ModelSpent {
  return spent.calls === 0 ? asking : addModelSpent(spent, asking);
}
