import { add, decimal, type Fraction } from "../../fraction.js";
import { amountIn } from "../../money.js";
import type { SearchIterationRow } from "../search/search.js";

/**
 * Computes the amount that counts against the ceiling for an iteration: the reported cost of its runs. The iteration's
 * allotment is added once if a run that started its agent reported no cost in the ceiling's currency.
 */
export function countIteration({
  agentSpent,
  allotted,
  unpriced,
}: Pick<SearchIterationRow, "agentSpent" | "allotted" | "unpriced">): Fraction {
  const reported = amountIn(agentSpent, allotted.currency);
  return unpriced ? add(reported, decimal(allotted.amount)) : reported;
}
