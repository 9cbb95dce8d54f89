import { type ComparisonRow, compareTasks, type MeasuredCopy } from "../../statistics/comparison.js";
import { type Copy, FEW, isScored } from "../../statistics/copy.js";
import { type Gain, onTasksScoredBy, successGain } from "../../statistics/gain.js";
import { detectableGain } from "../../statistics/minimum-gain.js";
import { type Interval, successInterval } from "../../statistics/success.js";

/** One side of a comparison: a replay with its copies, in the order of its set's runs. */
export interface Side<Each extends Copy = Copy> {
  readonly id: string;
  /** How many copies of each run it makes. */
  readonly repeats: number;
  /** The fingerprint of how its copies are scored. */
  readonly scoringFingerprint: string;
  readonly copies: readonly Each[];
}

/** Where a replay stands among those of its set. */
export interface Counterpart {
  readonly id: string;
  /** Chosen when it started. */
  readonly pairedWith: string | null;
  /** Of a replay with the answer: the live replay whose finishing started it. */
  readonly answers: string | null;
}

/** The id of the replay that one is compared with; null for the baseline itself, and where there is none. */
export function findCounterpart({ id, pairedWith, answers }: Counterpart, baselineId: string | null): string | null {
  return pairedWith ?? answers ?? (baselineId === id ? null : baselineId);
}

/** A replay beside another (document 2, "Replay (read)": `comparedWith`, `againstBaseline`). */
export interface Versus {
  readonly comparedWith: {
    readonly replayId: string;
    /** Of the other replay, on the tasks that both scored; null when there is none. */
    readonly successRate: number | null;
    readonly interval: Interval | null;
    /** Those tasks, and whether they are fewer than 5. */
    readonly tasks: number;
    readonly few: boolean;
  };
  readonly againstBaseline: (Gain & { readonly otherScoring: boolean }) | null;
  readonly detectableGain: number | null;
}

interface Terms {
  readonly minGain: number;
  /** The copies of all replays of the live config as it is now. */
  readonly live: readonly Copy[];
}

/** How `own` did beside `other`, on the runs that both replay. */
export function compareSides(own: Side, other: Side, { minGain, live }: Terms): Versus {
  const [mine, theirs] = [onRunsOf(own.copies, other.copies), onRunsOf(other.copies, own.copies)];
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

/** A row of a comparison, with how many copies its shares are of. */
export type TaskRow<Each extends MeasuredCopy> = ComparisonRow<Each> & {
  readonly candidateScored: number;
  readonly baselineScored: number;
};

/**
 * A row for each task of `own`, regressions first. Of a task, the runs count that both replay; all of `own` where the
 * other replays none of them, and without another.
 */
export function compareByTask<Each extends MeasuredCopy>(
  own: readonly Each[],
  other: readonly Each[],
): readonly TaskRow<Each>[] {
  const theirs = onRunsOf(other, own);
  const shared = new Set(theirs.map(({ taskId }) => taskId));
  const mine = [...onRunsOf(own, other), ...own.filter(({ taskId }) => !shared.has(taskId))];
  const runs = [...new Set(own.map(({ originalRunId }) => originalRunId))];
  return compareTasks(mine, theirs, runs).map((row) => ({
    ...row,
    candidateScored: row.candidate.filter(isScored).length,
    baselineScored: row.baseline.filter(isScored).length,
  }));
}

function onRunsOf<Each extends Copy>(copies: readonly Each[], other: readonly Copy[]): readonly Each[] {
  const runs = new Set(other.map(({ originalRunId }) => originalRunId));
  return copies.filter(({ originalRunId }) => runs.has(originalRunId));
}
