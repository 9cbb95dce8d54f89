import { fromText, toNumber } from "../../../../actors/fraction.js";
import type { SnapshotCandidate } from "../../../../actors/searches/rules/decide-next.js";
import type { Objective } from "../../../../actors/searches/rules/objective.js";

/**
 * A second implementation of the frontier and of the choice of the best candidate, written from the rules. It uses
 * doubles and nested loops.
 */

const value = (text: string | null | undefined, unknown: number): number =>
  text === null || text === undefined ? unknown : toNumber(fromText(text));

interface Point {
  readonly id: string;
  readonly seed: boolean;
  readonly score: number;
  readonly cost: number;
  readonly verdict: string | null;
  readonly heldOutVerdict: string | null;
  readonly heldOutCheaper: boolean;
  readonly heldOutGain: number;
}

function listPoints(candidates: readonly SnapshotCandidate[]): readonly Point[] {
  const points: Point[] = [];
  for (const { candidateId, seed, replayState, searched, heldOut } of candidates) {
    if (replayState !== "finished") continue;
    points.push({
      id: candidateId,
      seed,
      score: value(searched?.score, -1),
      cost: value(searched?.cost, 1e12),
      verdict: searched?.searchedGain?.verdict ?? null,
      heldOutVerdict: heldOut?.heldOutGain?.verdict ?? null,
      heldOutCheaper: heldOut?.heldOutCost?.cheaper ?? false,
      heldOutGain: heldOut?.heldOutGain?.gain ?? -1,
    });
  }
  return points;
}

export function slowFrontier(candidates: readonly SnapshotCandidate[], objective: Objective): ReadonlySet<string> {
  const may = listPoints(candidates).filter(
    ({ seed, verdict }) => seed || objective === "success" || verdict === "better" || verdict === "within-noise",
  );
  const on = new Set<string>();
  for (const point of may) {
    let beaten = point.score < 0;
    for (const other of may) {
      if (other.score > point.score && other.cost <= point.cost) beaten = true;
      if (other.score >= point.score && other.cost < point.cost) beaten = true;
    }
    if (point.seed || !beaten) on.add(point.id);
  }
  return on;
}

/**
 * Whether `id` is the best candidate. If no candidate is confirmed, the best is the seed. Otherwise the confirmed
 * candidates are ordered by these criteria:
 *
 * 1. the lowest cost, if the objective is the cost
 * 2. the highest score
 * 3. the lowest cost
 * 4. the highest held-out gain
 * 5. the earliest admission
 */
export function isSlowBest(candidates: readonly SnapshotCandidate[], objective: Objective, id: string): boolean {
  const points = listPoints(candidates);
  const seed = points.find((point) => point.seed);
  const confirmed = points.filter((point) => {
    if (point.seed || (point.heldOutVerdict !== "better" && point.heldOutVerdict !== "within-noise")) return false;
    if (objective === "success") return point.verdict === "better";
    const isKnown = seed !== undefined && seed.cost < 1e12 && point.cost < 1e12;
    return (
      point.heldOutCheaper &&
      isKnown &&
      point.cost < seed.cost &&
      (point.verdict === "better" || point.verdict === "within-noise")
    );
  });
  if (confirmed.length === 0) return seed?.id === id;
  const found = confirmed.find((point) => point.id === id);
  if (found === undefined) return false;
  const at = confirmed.indexOf(found);
  return confirmed.every((other, place) => {
    const [scores, costs] = [found.score - other.score, other.cost - found.cost];
    const [first, second] = objective === "success" ? [scores, costs] : [costs, scores];
    if (first !== 0) return first > 0;
    if (second !== 0) return second > 0;
    const gains = found.heldOutGain - other.heldOutGain;
    return gains > 0 || (gains === 0 && at <= place);
  });
}
