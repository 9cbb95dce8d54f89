import { compare, subtract, toNumber, toNumberOrNull } from "../fraction.js";
import { type Copy, groupByTask, successRate } from "./copy.js";
import { neededRepeats, suggestedRepeats } from "./minimum-gain.js";

/**
 * The variation of success between copies of the same config (document 2, "Set health": `noise`; "Warnings": `noisy`).
 */
export interface Noise {
  /**
   * Success rates from 0 to 1: the rate of all first copies, of all second copies, and so on. A rate is null if no such
   * copy was scored.
   */
  readonly perRepeat: readonly (number | null)[];
  /** The highest rate in `perRepeat` minus the lowest. */
  readonly spread: number;
  /** Tasks with both a succeeded and a failed copy, ordered by id. */
  readonly flippedTasks: readonly string[];
  /** Whether the noise is above `minGain` with only one copy per run. */
  readonly noisyInOneCopy: boolean;
  /**
   * The number of copies of each run that reduces the noise enough, and the number to suggest. A search with fewer than
   * `neededRepeats` gets the warning `noisy`.
   */
  readonly neededRepeats: number;
  readonly suggestedRepeats: number;
}

/**
 * Measures the noise of a replay with `repeats` copies per run. Null while fewer than two of the repeats have a scored
 * copy.
 */
export function measureNoise(
  copies: readonly Copy[],
  { repeats, minGain }: { readonly repeats: number; readonly minGain: number },
): Noise | null {
  const rates = Array.from({ length: repeats }, (_, index) =>
    successRate(copies.filter(({ repeat }) => repeat === index + 1)),
  );
  const known = rates.filter((rate) => rate !== null).sort(compare);
  const [lowest, highest] = [known.at(0), known.at(-1)];
  if (lowest === undefined || highest === undefined || known.length < 2) return null;
  const spread = subtract(highest, lowest);
  const needed = neededRepeats(spread, minGain);
  return {
    perRepeat: rates.map(toNumberOrNull),
    spread: toNumber(spread),
    flippedTasks: flippedTasks(copies),
    noisyInOneCopy: needed > 1,
    neededRepeats: needed,
    suggestedRepeats: suggestedRepeats(needed),
  };
}

function flippedTasks(copies: readonly Copy[]): readonly string[] {
  const flipped = [...groupByTask(copies)].filter(([, ofTask]) => {
    const results = new Set(ofTask.map(({ result }) => result));
    return results.has("succeeded") && results.has("failed");
  });
  return flipped.map(([taskId]) => taskId);
}
