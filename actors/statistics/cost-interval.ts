import { compare, divide, type Fraction, multiply, ZERO } from "../fraction.js";
import { bootstrapMean } from "./interval.js";
import type { Ends } from "./resampled-sum.js";

/**
 * The 95 % bootstrap interval of a run's mean cost, resampled over tasks like the interval of success. `costs` has one
 * cost per task. Costs are not negative, and all are in one currency. The interval is computed from the ratios of the
 * costs to the largest cost. If these ratios need a finer scale than 1/840, each ratio is rounded to the nearest 1/840.
 * Returns null for an empty list.
 */
export function costInterval(costs: readonly Fraction[]): Ends<Fraction> | null {
  const largest = costs.reduce((highest, cost) => (compare(cost, highest) > 0 ? cost : highest), ZERO);
  if (compare(largest, ZERO) === 0) return costs.length === 0 ? null : { low: ZERO, high: ZERO };
  const parts = bootstrapMean(costs.map((cost) => divide(cost, largest)));
  return parts === null ? null : { low: multiply(parts.low, largest), high: multiply(parts.high, largest) };
}
