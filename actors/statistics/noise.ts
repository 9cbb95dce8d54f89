import { compare, subtract, toNumber, toNumberOrNull } from "../fraction.js";
import { type Copy, groupByTask, successRate } from "./copy.js";
import { neededRepeats, suggestedRepeats } from "./minimum-gain.js";

/** How much success moves between copies of the same config (document 2, "Set health": `noise`; "Warnings": `noisy`). */
export interface Noise {
  /** Success of the first copies, the second and so on, each from 0 to 1; null for copies of which none was scored. */
  readonly perRepeat: readonly (number | null)[];
  /** The highest of them less the lowest. */
  readonly spread: number;
  /** Tasks with a copy that succeeded and one that failed, in the order of their ids. */
  readonly flippedTasks: readonly string[];
  /** One copy of each run does not bring the noise under `minGain`. */
  readonly noisyInOneCopy: boolean;
  /** The copies that do, and how many of them to ask for. A search with fewer is `noisy`. */
  readonly neededRepeats: number;
  readonly suggestedRepeats: number;
}

/** A replay's noise, of so many `repeats`. Null while fewer than two of them have a scored copy. */
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
