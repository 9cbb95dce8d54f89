import fc from "fast-check";
import type { MeasuredCopy } from "../../../actors/statistics/comparison.js";
import { listCopies } from "./copies.js";

/** Generates up to five tasks with up to two runs of up to five copies each. */
export const someCopies: fc.Arbitrary<readonly MeasuredCopy[]> = fc
  .dictionary(fc.constantFrom("a/1", "a/2", "b/1", "b/2", "c/1", "d/1", "e/1"), fc.stringMatching(/^[-+?.]{0,5}$/))
  .map(listCopies);

/** Like {@link someCopies}, but with more successes and failures, and all copies settled. */
export const settledCopies: fc.Arbitrary<readonly MeasuredCopy[]> = fc
  .dictionary(fc.constantFrom("a/1", "a/2", "b/1", "b/2", "c/1", "d/1", "e/1"), fc.stringMatching(/^[-+-+-+?]{1,4}$/))
  .map(listCopies);

/** Generates copies, and the same copies in another order. */
export function shuffled<Each>(
  copies: fc.Arbitrary<readonly Each[]>,
): fc.Arbitrary<readonly [readonly Each[], readonly Each[]]> {
  return copies.chain((each) =>
    fc.shuffledSubarray([...each], { minLength: each.length }).map((other) => [each, other] as const),
  );
}
