import type { Interval } from "./figures.js";
import type { Candidate, Search } from "./searches.js";

/** A candidate of a search, or the live config, as a point of score and cost. */
export interface FrontierPoint {
  readonly candidate: Candidate;
  /** A character that names the point in a plot. */
  readonly mark: string;
  readonly name: string;
  /** The success rate on the searched tasks, from 0 to 1; null while no task is scored. */
  readonly score: number | null;
  readonly interval: Interval | null;
  /** The cost of a run; null if it is unknown. */
  readonly cost: number | null;
  readonly onFrontier: boolean;
}

/** A point whose score and cost are known, so that a plot can show it. */
export interface PlacedPoint extends FrontierPoint {
  readonly score: number;
  readonly cost: number;
}

const MARKS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/** The marks of the live config, and of candidates for which {@link MARKS} has no letter left. */
const LIVE_MARK = "*";
const OTHER_MARK = "+";

/** Lists the points of a search: the frontier from the cheapest, then the others from the best score. */
export function listPoints({ seed, candidates, frontier }: Search): readonly FrontierPoint[] {
  const points = [seed, ...candidates].map((candidate, index) => ({
    candidate,
    mark: candidate.seed ? LIVE_MARK : (MARKS[index - 1] ?? OTHER_MARK),
    name: candidate.seed ? "live config" : candidate.name,
    score: candidate.searchScore,
    interval: candidate.searchInterval,
    cost: candidate.costPerRun?.amount ?? null,
    onFrontier: candidate.onFrontier,
  }));
  const place = ({ candidate }: FrontierPoint) => {
    const at = frontier.indexOf(candidate.candidateId);
    return at === -1 ? frontier.length : at;
  };
  return points.sort((one, other) => place(one) - place(other) || (other.score ?? -1) - (one.score ?? -1));
}

/** Keeps the points whose score and cost are known. */
export function listPlaced(points: readonly FrontierPoint[]): readonly PlacedPoint[] {
  return points.flatMap((point) =>
    point.score === null || point.cost === null ? [] : [{ ...point, score: point.score, cost: point.cost }],
  );
}

/**
 * Returns the range of costs in a plot. If all costs are equal, returns a wider range, because a plot needs a range
 * that is not empty.
 */
export function costRange(points: readonly PlacedPoint[]): { readonly from: number; readonly to: number } {
  const costs = points.map(({ cost }) => cost);
  const [from, to] = [Math.min(...costs), Math.max(...costs)];
  if (from < to) return { from, to };
  return from === 0 ? { from: 0, to: 1 } : { from: from / 2, to: from * 1.5 };
}
