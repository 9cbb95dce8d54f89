import { compare, decimal, type Fraction, mean, subtract, toNumber, ZERO } from "../fraction.js";
import { type Copy, FEW, taskShares } from "./copy.js";
import { bootstrapMean } from "./interval.js";

export type Verdict = "better" | "worse" | "within-noise";

/** The gain in success over another replay (document 2, "Gain"). */
export interface Gain {
  /** From -1 to 1, with its 95 % interval. */
  readonly gain: number;
  readonly low: number;
  readonly high: number;
  readonly verdict: Verdict;
  /** The smallest gain that counts as real. */
  readonly minGain: number;
  /** The number of tasks that both sides scored. */
  readonly tasks: number;
  /** Whether there are fewer than 5 tasks. Never show the verdict without this flag. */
  readonly few: boolean;
}

/**
 * The gain in success of `own` over `other`: the mean difference of the tasks' success shares, with its interval. The
 * mean uses only the tasks that both sides scored. The interval comes from resampling these tasks. Null if there is no
 * such task. `minGain` is a decimal, and is compared exactly as written.
 *
 * All given copies count. If one side replayed runs that the other did not, the caller must leave out the copies of
 * these runs.
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

/** Selects the copies whose tasks the other side also scored, for `comparedWith` (document 2, "Replay (read)"). */
export function onTasksScoredBy<Each extends Copy>(copies: readonly Each[], other: readonly Copy[]): readonly Each[] {
  const shares = taskShares(other);
  return copies.filter(({ taskId }) => shares.has(taskId));
}

/**
 * Whether a replay with the known answer was clearly better than the live config (document 2, "Set health":
 * `oracle.roomToImprove`). Null before the comparison, and while the comparison covers fewer than 5 tasks.
 */
export function roomToImprove(gain: Gain | null): boolean | null {
  return gain === null || gain.few ? null : gain.verdict === "better";
}
