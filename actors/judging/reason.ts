import { z } from "zod";
import { cutMiddle } from "./cut-text.js";

/** What a reason points at: a hunk by its number in the change, from 1, or a step by its index; the other is null. */
export interface Citation {
  readonly kind: "hunk" | "step";
  readonly hunk: number | null;
  readonly step: number | null;
}

/** Longest text of a reason, in characters, and of all reasons of a verdict together. */
const MAX_REASON = 2_000;
const MAX_REASONS = 32_000;
/** Most citations of one reason. */
const MAX_CITATIONS = 5;

/** A number as a model cites it. Any will do: one of nothing that was shown is dropped, and spoils no verdict. */
export const citedNumber = z.number();

/** Reasons as a model gives them. Lengths of texts are left to {@link cutReasons}: not every model can keep to them. */
export const answeredReason = z.strictObject({
  text: z.string(),
  citations: z.array(z.strictObject({ kind: z.enum(["hunk", "step"]), number: citedNumber })).max(MAX_CITATIONS),
});

export type AnsweredReason = z.output<typeof answeredReason>;

/** What a reader was shown, by which citations are read. */
export interface ShownPlaces {
  /** The number in the change of the n-th shown hunk. */
  readonly hunks: readonly number[];
  /** Indexes of the shown steps. */
  readonly steps: readonly number[];
}

/** The citations of a reason, each once, in terms of the change and the run; those of nothing that was shown are dropped. */
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

/** Shown hunks by their numbers in the change, each once, in order; those that do not exist are dropped. */
export function readHunks(numbers: readonly number[], hunks: readonly number[]): readonly number[] {
  const found = numbers.map((number) => hunks[number - 1]).filter((hunk) => hunk !== undefined);
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Reasons with their texts cut, so that all of a verdict are bounded; empty ones are left out. */
export function cutReasons<Reason extends { readonly text: string }>(reasons: readonly Reason[]): readonly Reason[] {
  const told = reasons.filter(({ text }) => text.trim() !== "");
  const most = Math.min(MAX_REASON, Math.floor(MAX_REASONS / Math.max(1, told.length)));
  return told.map((reason) => ({ ...reason, text: cutMiddle(reason.text.trim(), most) }));
}
