import { add, type Fraction, fraction, fromText, multiply, subtract, toText, ZERO } from "../../fraction.js";
import { addMoney, amountIn, boundMoney, type Money } from "../../money.js";
import { reachesCeiling, unpricedRun } from "../../statistics/spending.js";
import type { ReplayCopyRow, ReplayRow, ReplaySpending } from "../replay/replay.js";

/**
 * Computes the amount that counts against a replay's ceiling, the sum of these amounts (`statistics/spending.ts`):
 * - the cost that its copies reported;
 * - its other spending;
 * - one share of the ceiling for each copy that did not report its cost.
 */
export function countSpent(replay: ReplayRow): Fraction {
  const { spent, besides, unpriced } = replay.spending;
  const known = add(fromText(spent), fromText(besides));
  return unpriced === 0 ? known : add(known, multiply(fraction(unpriced), unpricedRun(replay)));
}

/**
 * The ceiling of a search, for a decision about one of its replays. `others` is the amount that counts against the
 * ceiling without this replay.
 */
export interface BudgetLeft {
  readonly ceiling: Money;
  readonly others: Fraction;
}

/**
 * Whether the replay or its search has reached its ceiling. If so, copies that never ran may not start. `budget` is
 * null for a replay outside a search.
 */
export function isAtCeiling(replay: ReplayRow, budget: BudgetLeft | null): boolean {
  return !mayStart(replay, { priced: true }, budget);
}

/**
 * Whether an attempt of a copy may start: the amount that counts, without this copy's own share, must be below the
 * ceiling. A lost copy that did not report its cost already counts a share of the ceiling. That share does not prevent
 * its next attempt, and no second share is added. For a replay of a search, both the replay's ceiling and the search's
 * ceiling apply.
 */
export function mayStart(
  replay: ReplayRow,
  { priced }: Pick<ReplayCopyRow, "priced">,
  budget: BudgetLeft | null,
): boolean {
  const own = priced ? ZERO : unpricedRun(replay);
  const rest = subtract(countSpent(replay), own);
  return (
    !reachesCeiling(rest, replay.ceiling) &&
    (budget === null || !reachesCeiling(add(rest, budget.others), budget.ceiling))
  );
}

/**
 * Adds a copy's change to a replay's spending. Returns the same object if the copy's cost is unchanged, so that queuing
 * or claiming a copy does not recompute the replay's spending or the search's budget.
 */
export function addSpending(
  spending: ReplaySpending,
  currency: string,
  { before, after }: { readonly before: ReplayCopyRow; readonly after: ReplayCopyRow },
): ReplaySpending {
  if (after.spent === before.spent && after.priced === before.priced) return spending;
  const more = subtract(amountIn(after.spent, currency), amountIn(before.spent, currency));
  return {
    ...spending,
    spent: toText(add(fromText(spending.spent), more)),
    unpriced: spending.unpriced + Number(before.priced) - Number(after.priced),
  };
}

/**
 * Returns a copy's spending after another attempt: the sum of the costs in the ceiling's currency. If no attempt
 * reported a cost in this currency, returns the first cost in another currency. Returns null if no attempt reported a
 * cost.
 */
export function addReported(before: Money | null, more: Money | null, currency: string): Money | null {
  if (before === null || more === null) return boundMoney(before ?? more);
  if (more.currency !== currency) return boundMoney(before);
  if (before.currency !== currency) return boundMoney(more);
  return addMoney(before, more);
}
