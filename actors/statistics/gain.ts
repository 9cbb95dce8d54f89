import { compare, decimal, type Fraction, mean, subtract, toNumber, ZERO } from "../fraction.js";
import { type Copy, FEW, taskShares } from "./copy.js";
import { bootstrapMean } from "./interval.js";

export type Verdict = "better" | "worse" | "within-noise";

/** Success gained over another replay (document 2, "Gain"). */
export interface Gain {
  /** From -1 to 1, with its 95 % interval. */
  readonly gain: number;
  readonly low: number;
  readonly high: number;
  readonly verdict: Verdict;
  /** The smallest gain that counts as real. */
  readonly minGain: number;
  /** The tasks that both sides scored. */
  readonly tasks: number;
  /** Fewer than 5 tasks: the verdict is never shown without saying so. */
  readonly few: boolean;
}

/**
 * What `own` gained over `other`: the mean over the tasks scored on both sides of the difference of their shares, with
 * the interval of resampling these tasks. Null when no task was scored on both sides. `minGain` is a decimal, compared
 * as it is written.
 *
 * Both sides count with all copies given. Where one replayed runs that the other did not, the caller leaves them out.
 */
export function successGain(own: readonly Copy[], other: readonly Copy[], minGain: number): Gain | null {
  const differences = pairedDifferences(own, other);
  const gained = mean(differences);
  const bounds = bootstrapMean(differences);
  if (gained === null || bounds === null) return null;
  const { low, high } = bounds;
  const smallest = decimal(minGain);
  const isBetter = compare(low, ZERO) > 0 && compare(gained, smallest) >= 0;
  const isWorse = compare(high, ZERO) < 0 && compare(gained, subtract(ZERO, smallest)) <= 0;
  return {
    gain: toNumber(gained),
    low: toNumber(low),
    high: toNumber(high),
    verdict: isBetter ? "better" : isWorse ? "worse" : "within-noise",
    minGain,
    tasks: differences.length,
    few: differences.length < FEW,
  };
}

function pairedDifferences(own: readonly Copy[], other: readonly Copy[]): readonly Fraction[] {
  const otherShares = taskShares(other);
  return [...taskShares(own)].flatMap(([taskId, share]) => {
    const otherShare = otherShares.get(taskId);
    return otherShare === undefined ? [] : [subtract(share, otherShare)];
  });
}

/** The copies of the tasks that the other side scored too: of what `comparedWith` tells (document 2, "Replay (read)"). */
export function onTasksScoredBy<Each extends Copy>(copies: readonly Each[], other: readonly Copy[]): readonly Each[] {
  const shares = taskShares(other);
  return copies.filter(({ taskId }) => shares.has(taskId));
}

/**
 * Whether a replay with the answer did clearly better than the live config (document 2, "Set health":
 * `oracle.roomToImprove`). Null until they are compared, and while fewer than 5 tasks are.
 */
export function roomToImprove(gain: Gain | null): boolean | null {
  return gain === null || gain.few ? null : gain.verdict === "better";
}
