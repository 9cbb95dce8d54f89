import { compare, divide, type Fraction, multiply, ZERO } from "../fraction.js";
import { bootstrapMean } from "./interval.js";
import type { Ends } from "./resampled-sum.js";

/**
 * The 95 % interval of what a run costs, bootstrapped over tasks as that of success is: `costs` has one for each task, 0
 * or more in one currency. Costs are counted in parts of the largest, of which an interval tells 840. Null of nothing.
 */
export function costInterval(costs: readonly Fraction[]): Ends<Fraction> | null {
  const largest = costs.reduce((most, cost) => (compare(cost, most) > 0 ? cost : most), ZERO);
  if (compare(largest, ZERO) === 0) return costs.length === 0 ? null : { low: ZERO, high: ZERO };
  const parts = bootstrapMean(costs.map((cost) => divide(cost, largest)));
  return parts === null ? null : { low: multiply(parts.low, largest), high: multiply(parts.high, largest) };
}
