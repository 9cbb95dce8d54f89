import { compare, type Fraction, subtract, toNumber } from "../fraction.js";
import { type Copy, countSucceeded, groupByTask, isScored, successShare } from "./copy.js";

/**
 * Whether a task regressed (document 2, "Replay check verdict", "Replay (read)": `comparison[].regressed`). All of
 * these must be true:
 * - Every copy of both sides has settled, and both sides have a scored copy.
 * - All scored copies of the baseline succeeded.
 * - Fewer than half of the candidate's scored copies succeeded.
 *
 * The last condition prevents most false failures of checks. Take checks of 20 tasks with three copies, where nothing
 * changed. If every lower success share counted as a regression, 93 % of these checks would fail. With this rule, 6 %
 * fail; with five copies, 0.7 %, and with one copy, 67 %. The tasks' rates for these figures are in
 * `test/actors/statistics/regression.test.ts`.
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
  /**
   * The run with the largest loss of success. If several runs have the same loss, the first of them in the set's order.
   */
  readonly originalRunId: string;
  /** The copies of each side, ordered by run in the set's order, then by copy. */
  readonly candidate: readonly Each[];
  readonly baseline: readonly Each[];
  /** The candidate's success share minus the baseline's: below 0. */
  readonly scoreDelta: number;
}

/** Finds the tasks that regressed, ordered by largest loss, then by id. `runs` has the set's runs in order. */
export function findRegressions<Each extends Copy>(
  candidate: readonly Each[],
  baseline: readonly Each[],
  runs: readonly string[],
): readonly Regression<Each>[] {
  const before = groupByTask(inRunOrder(baseline, runs));
  const lost = [...groupByTask(inRunOrder(candidate, runs))].flatMap(([taskId, own]) => {
    const other = before.get(taskId) ?? [];
    // Check for a regression first: the check is cheap, and few tasks regress.
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

/** Orders copies by run in the set's order, then by copy. Copies of other runs come last. */
export function inRunOrder<Each extends Copy>(copies: readonly Each[], runs: readonly string[]): readonly Each[] {
  const places = new Map(runs.map((runId, place) => [runId, place]));
  const toPlace = ({ originalRunId }: Copy): number => places.get(originalRunId) ?? runs.length;
  return [...copies].sort((a, b) => toPlace(a) - toPlace(b) || a.repeat - b.repeat);
}

/** The success share of `own` minus the success share of `other`. Null while one side has no scored copy. */
export function shareGained(own: readonly Copy[], other: readonly Copy[]): Fraction | null {
  const [share, otherShare] = [successShare(own), successShare(other)];
  return share === null || otherShare === null ? null : subtract(share, otherShare);
}

/**
 * Finds the run with the largest loss among the task's runs that have scored copies on both sides. If there is no such
 * run, returns the task's first run. Copies must be in run order.
 */
function runWithLargestLoss(own: readonly Copy[], other: readonly Copy[]): string | undefined {
  const ofRun = (copies: readonly Copy[], runId: string) => copies.filter((copy) => copy.originalRunId === runId);
  const runs = [...new Set(own.map(({ originalRunId }) => originalRunId))];
  const scored = runs.flatMap((runId) => {
    const gained = shareGained(ofRun(own, runId), ofRun(other, runId));
    return gained === null ? [] : [{ runId, gained }];
  });
  return scored.sort((a, b) => compare(a.gained, b.gained))[0]?.runId ?? runs[0];
}
