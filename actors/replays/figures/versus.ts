import { type ComparisonRow, compareTasks, type MeasuredCopy } from "../../statistics/comparison.js";
import { type Copy, FEW, isScored } from "../../statistics/copy.js";
import { type Gain, onTasksScoredBy, successGain } from "../../statistics/gain.js";
import { detectableGain } from "../../statistics/minimum-gain.js";
import { type Interval, successInterval } from "../../statistics/success.js";

/** One side of a comparison: a replay with its copies, in the order of its set's runs. */
export interface Side<Each extends Copy = Copy> {
  readonly id: string;
  /** The number of copies of each run in the replay. */
  readonly repeats: number;
  /** The scoring fingerprint of the replay's copies. */
  readonly scoringFingerprint: string;
  readonly copies: readonly Each[];
}

/** The fields that decide which replay a replay is compared with. */
export interface Counterpart {
  readonly id: string;
  /** The replay to compare with, chosen at the start; null if no replay was chosen. */
  readonly pairedWith: string | null;
  /** For a replay with the answer: the live replay whose end started this replay. Null for other replays. */
  readonly answers: string | null;
}

/** Returns the id of the replay to compare with; null if there is none. The baseline is not compared with itself. */
export function findCounterpart({ id, pairedWith, answers }: Counterpart, baselineId: string | null): string | null {
  return pairedWith ?? answers ?? (baselineId === id ? null : baselineId);
}

/** The comparison of a replay with another (document 2, "Replay (read)": `comparedWith`, `againstBaseline`). */
export interface Versus {
  readonly comparedWith: {
    readonly replayId: string;
    /** The other replay's success rate on the tasks that both replays scored; null when there are none. */
    readonly successRate: number | null;
    readonly interval: Interval | null;
    /** The number of tasks that both replays scored, and whether the number is below 5. */
    readonly tasks: number;
    readonly few: boolean;
  };
  readonly againstBaseline: (Gain & { readonly otherScoring: boolean }) | null;
  readonly detectableGain: number | null;
}

interface Terms {
  readonly minGain: number;
  /** The copies of live replays, from which the random variation of success is measured. */
  readonly live: readonly Copy[];
}

/** Compares `own` with `other`, on the runs that have copies on both sides. */
export function compareSides(own: Side, other: Side, { minGain, live }: Terms): Versus {
  const [mine, theirs] = [listCopiesOnRuns(own.copies, other.copies), listCopiesOnRuns(other.copies, own.copies)];
  const gain = successGain(mine, theirs, minGain);
  const interval = successInterval(onTasksScoredBy(theirs, mine));
  const tasks = gain?.tasks ?? 0;
  const otherScoring = own.scoringFingerprint !== other.scoringFingerprint;
  return {
    comparedWith: { replayId: other.id, successRate: interval?.rate ?? null, interval, tasks, few: tasks < FEW },
    againstBaseline: gain === null ? null : { ...gain, otherScoring },
    detectableGain: detectableGain(live, { tasks, own: own.repeats, other: other.repeats }),
  };
}

/** A row of a comparison, with the number of scored copies on each side. */
export type TaskRow<Each extends MeasuredCopy> = ComparisonRow<Each> & {
  readonly candidateScored: number;
  readonly baselineScored: number;
};

/**
 * Returns a row for each task of `own`, regressions first. Within a task, only runs with copies on both sides count. If
 * `other` has no copy of any of the task's runs, all copies of the task in `own` count and the other side is empty.
 */
export function compareByTask<Each extends MeasuredCopy>(
  own: readonly Each[],
  other: readonly Each[],
): readonly TaskRow<Each>[] {
  const theirs = listCopiesOnRuns(other, own);
  const shared = new Set(theirs.map(({ taskId }) => taskId));
  const mine = [...listCopiesOnRuns(own, other), ...own.filter(({ taskId }) => !shared.has(taskId))];
  const runs = [...new Set(own.map(({ originalRunId }) => originalRunId))];
  return compareTasks(mine, theirs, runs).map((row) => ({
    ...row,
    candidateScored: row.candidate.filter(isScored).length,
    baselineScored: row.baseline.filter(isScored).length,
  }));
}

function listCopiesOnRuns<Each extends Copy>(copies: readonly Each[], other: readonly Copy[]): readonly Each[] {
  const runs = new Set(other.map(({ originalRunId }) => originalRunId));
  return copies.filter(({ originalRunId }) => runs.has(originalRunId));
}
