import { z } from "zod";
import { cutMiddle } from "./cut-text.js";

/**
 * A citation of a hunk or of a step. A hunk is cited by its number in the change, from 1, and a step by its index. The
 * other field is null.
 */
export interface Citation {
  readonly kind: "hunk" | "step";
  readonly hunk: number | null;
  readonly step: number | null;
}

/** Maximum length of a reason, and of all reasons of a verdict together, in characters. */
const MAX_REASON = 2_000;
const MAX_REASONS = 32_000;
/** Maximum number of citations per reason. */
const MAX_CITATIONS = 5;

/**
 * A number that a model cites. Any number is valid: a citation of something that was not shown is dropped, but does not
 * invalidate the verdict.
 */
export const citedNumber = z.number();

/**
 * A reason, as a model gives it. The schema does not limit the text's length, because some models cannot obey a limit;
 * {@link cutReasons} shortens texts.
 */
export const answeredReason = z.strictObject({
  text: z.string(),
  citations: z.array(z.strictObject({ kind: z.enum(["hunk", "step"]), number: citedNumber })).max(MAX_CITATIONS),
});

export type AnsweredReason = z.output<typeof answeredReason>;

/** The hunks and steps that were shown, needed to read citations. */
export interface ShownPlaces {
  /** For each shown hunk, in order, its number in the change. */
  readonly hunks: readonly number[];
  /** Indexes of the shown steps. */
  readonly steps: readonly number[];
}

/**
 * Converts a reason's citations to hunk numbers of the change and step indexes of the run, without duplicates. Drops
 * citations of anything that was not shown.
 */
export function readCitations(
  citations: AnsweredReason["citations"],
  { hunks, steps }: ShownPlaces,
): readonly Citation[] {
  const read = citations.flatMap(({ kind, number }): Citation[] => {
    if (kind === "step") return steps.includes(number) ? [{ kind, hunk: null, step: number }] : [];
    const [hunk] = readHunks([number], hunks);
    return hunk === undefined ? [] : [{ kind, hunk, step: null }];
  });
  return read.filter((one, at) => read.findIndex(({ hunk, step }) => hunk === one.hunk && step === one.step) === at);
}

/**
 * Converts the numbers of shown hunks to numbers in the change, sorted and without duplicates. Drops numbers of hunks
 * that were not shown.
 */
export function readHunks(numbers: readonly number[], hunks: readonly number[]): readonly number[] {
  const found = numbers.map((number) => hunks[number - 1]).filter((hunk) => hunk !== undefined);
  return [...new Set(found)].sort((a, b) => a - b);
}

/**
 * Shortens the reasons of one verdict, so that each reason and all reasons together stay within their limits. Drops
 * empty reasons.
 */
export function cutReasons<Reason extends { readonly text: string }>(reasons: readonly Reason[]): readonly Reason[] {
  const stated = reasons.filter(({ text }) => text.trim() !== "");
  const max = Math.min(MAX_REASON, Math.floor(MAX_REASONS / Math.max(1, stated.length)));
  return stated.map((reason) => ({ ...reason, text: cutMiddle(reason.text.trim(), max) }));
}
