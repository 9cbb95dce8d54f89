import { add, compare, decimal, type Fraction, fromText, subtract, toText, ZERO } from "../../fraction.js";
import type { Money } from "../../money.js";
import { addModelSpent, type ModelSpent } from "../../outbound/model-cost.js";
import type { ReplayRow } from "../replay.js";
import { countSpent } from "../replay-ceiling.js";

/** Whether the replay's ceiling has room for a cost. What counts nothing always has. */
export function hasRoom(replay: ReplayRow, cost: Money | null): boolean {
  const count = toCount(replay, cost);
  return compare(count, ZERO) === 0 || compare(add(countSpent(replay), count), decimal(replay.ceiling.amount)) <= 0;
}

/** Counts `now` in place of `before`, beside what the replay's copies spent. */
export function recount(replay: ReplayRow, before: Money | null, now: Money | null): ReplayRow {
  const besides = add(subtract(fromText(replay.spending.besides), toCount(replay, before)), toCount(replay, now));
  return { ...replay, spending: { ...replay.spending, besides: toText(besides) } };
}

/** What of a cost counts against the ceiling: nothing in another currency, or of a model without a price. */
function toCount({ ceiling }: ReplayRow, cost: Money | null): Fraction {
  return cost?.currency === ceiling.currency ? decimal(cost.amount) : ZERO;
}

/** What was spent before the first asking. */
export const NOTHING_SPENT: ModelSpent = { calls: 0, cost: null, isEstimate: false };

/** What was spent after another asking. */
export function addAsking(spent: ModelSpent, asking: ModelSpent): ModelSpent {
  return spent.calls === 0 ? asking : addModelSpent(spent, asking);
}
