import { compare, type Fraction } from "../fraction.js";

/** A config, with its score and its cost. */
export interface FrontierPoint {
  readonly id: string;
  /** Higher is better. Null if nothing was scored: such a point is on the frontier only if it is the seed. */
  readonly score: Fraction | null;
  /** The cost of one run; null if unknown. An unknown cost ranks above every known cost. */
  readonly cost: Fraction | null;
  /** The live config, which always stays on the frontier. */
  readonly isSeed: boolean;
}

/**
 * Returns the Pareto frontier: the seed, and the points that no other point dominates in score and cost (document 2,
 * "Search detail": `frontier`). Points with equal score and cost all stay. Orders the points by cost (cheapest first),
 * then by score (best first), then as given. For the objective `cost`, the caller must leave out the candidates that
 * are `worse` than the seed.
 */
export function paretoFrontier<Point extends FrontierPoint>(points: readonly Point[]): readonly Point[] {
  return points
    .filter((point) => point.isSeed || (point.score !== null && !points.some((other) => dominates(other, point))))
    .sort((a, b) => compareCost(a.cost, b.cost) || compareScore(b.score, a.score));
}

function dominates(point: FrontierPoint, other: FrontierPoint): boolean {
  const [better, cheaper] = [compareScore(point.score, other.score), compareCost(other.cost, point.cost)];
  return better >= 0 && cheaper >= 0 && (better > 0 || cheaper > 0);
}

/** Positive if `a` is higher. Null ranks below every score. */
function compareScore(a: Fraction | null, b: Fraction | null): number {
  return a === null || b === null ? Number(b === null) - Number(a === null) : compare(a, b);
}

/** Positive if `a` is more expensive. Null ranks above every cost. */
function compareCost(a: Fraction | null, b: Fraction | null): number {
  return a === null || b === null ? Number(a === null) - Number(b === null) : compare(a, b);
}
