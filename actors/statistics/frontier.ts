import { compare, type Fraction } from "../fraction.js";

/** A config by how well it does and what that costs. */
export interface FrontierPoint {
  readonly id: string;
  /** More is better. Null when nothing was scored: such a point is off the frontier. */
  readonly score: Fraction | null;
  /** Of one run; null when unknown, which is dearer than any. */
  readonly cost: Fraction | null;
  /** The live config, which always stays on the frontier. */
  readonly isSeed: boolean;
}

/**
 * The points than which none is better without being dearer, or cheaper without being worse (document 2, "Search detail":
 * `frontier`). Equal points stay both. Cheapest first; of equal cost the better first, then in the order given. With the
 * objective `cost` the caller leaves out the candidates that did worse.
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

/** Above 0 when `a` is more; null is less than any. */
function compareScore(a: Fraction | null, b: Fraction | null): number {
  return a === null || b === null ? Number(b === null) - Number(a === null) : compare(a, b);
}

/** Above 0 when `a` is dearer. */
function compareCost(a: Fraction | null, b: Fraction | null): number {
  return a === null || b === null ? Number(a === null) - Number(b === null) : compare(a, b);
}
