import { z } from "zod";

/** The kinds of a decision (expressions and insights, Change stack and decisions). */
export const decisionKinds = ["trade-off", "assumption", "limitation", "rejected-approach", "deviation"] as const;

/** Maximum number of decisions stored for one set. A draft with more is mostly noise. */
const MAX_DECISIONS = 100;
/** Maximum length of a file path, in characters. */
export const MAX_PATH = 1_024;

/** A decision that an agent made in a run, as drafted. */
const drafted = z.object({
  kind: z.enum(decisionKinds),
  title: z.string().min(1).max(120),
  why: z.string().max(2_000),
  alternatives: z.array(z.string().max(300)).max(5).default([]),
  paths: z.array(z.string().min(1).max(MAX_PATH)).min(1).max(20),
  steps: z.array(z.int().min(0)).min(1).max(20),
});

/** A drafted decision that is within the limits. */
export type DraftedDecision = Readonly<z.output<typeof drafted>>;

/** Returns the drafted decisions that are within the limits, in their order. Others are dropped. */
export function parseDraftedDecisions(given: readonly unknown[]): readonly DraftedDecision[] {
  return given
    .flatMap((each) => {
      const read = drafted.safeParse(each);
      return read.success ? [read.data] : [];
    })
    .slice(0, MAX_DECISIONS);
}
