import { add, decimal, type Fraction } from "../fraction.js";
import { amountIn } from "../money.js";
import type { SearchIterationRow } from "./search.js";

/**
 * What an iteration counts against the ceiling: what its runs reported, and once what it is allotted where one that began
 * its agent reported no cost in the ceiling's currency.
 */
export function countIteration({
  agentSpent,
  allotted,
  unpriced,
}: Pick<SearchIterationRow, "agentSpent" | "allotted" | "unpriced">): Fraction {
  const reported = amountIn(agentSpent, allotted.currency);
  return unpriced ? add(reported, decimal(allotted.amount)) : reported;
}
