import { compare, type Fraction, subtract, toNumber } from "../fraction.js";
import { type Copy, countSucceeded, groupByTask, isScored, successShare } from "./copy.js";

/**
 * Whether a task regressed (document 2, "Replay check verdict", "Replay (read)": `comparison[].regressed`): every copy of
 * both sides has settled, both sides scored one, all that the baseline scored succeeded, and fewer than half of those that
 * the candidate scored did (which none of none is not). Any drop of the share would fail nine of ten checks of a change that changes nothing.
 */
export function hasRegressed(candidate: readonly Copy[], baseline: readonly Copy[]): boolean {
  const scored = candidate.filter(isScored).length;
  const scoredBefore = baseline.filter(isScored).length;
  return (
    areSettled(candidate) &&
    areSettled(baseline) &&
    scoredBefore > 0 &&
    countSucceeded(baseline) === scoredBefore &&
    2 * countSucceeded(candidate) < scored
  );
}

export function areSettled(copies: readonly Copy[]): boolean {
  return copies.every(({ result }) => result !== null);
}

/** A task that regressed (document 2, "Replay check (record)": `regressions[]`). */
export interface Regression<Each extends Copy> {
  readonly taskId: string;
  /** The run with the largest loss of success; of equal ones, the earlier in the set. */
  readonly originalRunId: string;
  /** The copies of both sides, by run in the set's order, then by copy. */
  readonly candidate: readonly Each[];
  readonly baseline: readonly Each[];
  /** The candidate's share of success less the baseline's: below 0. */
  readonly scoreDelta: number;
}

/** The tasks that regressed, the largest loss first, then by their ids. `runs` has the set's runs in their order. */
export function findRegressions<Each extends Copy>(
  candidate: readonly Each[],
  baseline: readonly Each[],
  runs: readonly string[],
): readonly Regression<Each>[] {
  const before = groupByTask(inRunOrder(baseline, runs));
  const lost = [...groupByTask(inRunOrder(candidate, runs))].flatMap(([taskId, own]) => {
    const other = before.get(taskId) ?? [];
    // Few tasks regress, and whether one did costs least to know.
    if (!hasRegressed(own, other)) return [];
    const gained = shareGained(own, other);
    const originalRunId = runWithLargestLoss(own, other);
    if (gained === null || originalRunId === undefined) return [];
    return [{ taskId, originalRunId, candidate: own, baseline: other, gained }];
  });
  return lost
    .sort((a, b) => compare(a.gained, b.gained))
    .map(({ gained, ...regression }) => ({ ...regression, scoreDelta: toNumber(gained) }));
}

/** Copies by the order of their runs in the set, then by copy; those of other runs last. */
export function inRunOrder<Each extends Copy>(copies: readonly Each[], runs: readonly string[]): readonly Each[] {
  const places = new Map(runs.map((runId, place) => [runId, place]));
  const placeOf = ({ originalRunId }: Copy): number => places.get(originalRunId) ?? runs.length;
  return [...copies].sort((a, b) => placeOf(a) - placeOf(b) || a.repeat - b.repeat);
}

/** The share of success of `own` less that of `other`; null while one of them has no scored copy. */
export function shareGained(own: readonly Copy[], other: readonly Copy[]): Fraction | null {
  const [share, otherShare] = [successShare(own), successShare(other)];
  return share === null || otherShare === null ? null : subtract(share, otherShare);
}

/** Of a task's runs that both sides scored, the one that lost most; without one, the first. Copies are in run order. */
function runWithLargestLoss(own: readonly Copy[], other: readonly Copy[]): string | undefined {
  const ofRun = (copies: readonly Copy[], runId: string) => copies.filter((copy) => copy.originalRunId === runId);
  const runs = [...new Set(own.map(({ originalRunId }) => originalRunId))];
  const scored = runs.flatMap((runId) => {
    const gained = shareGained(ofRun(own, runId), ofRun(other, runId));
    return gained === null ? [] : [{ runId, gained }];
  });
  return scored.sort((a, b) => compare(a.gained, b.gained))[0]?.runId ?? runs[0];
}
