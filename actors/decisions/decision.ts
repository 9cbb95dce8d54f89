import { z } from "zod";

/** The kinds of a decision (expressions and insights, Change stack and decisions). */
export const decisionKinds = ["trade-off", "assumption", "limitation", "rejected-approach", "deviation"] as const;

/** Most decisions stored of one set; a drafter that finds more found noise. */
const MAX_DECISIONS = 100;
/** Longest path of a file, in characters. */
export const MAX_PATH = 1_024;

/** What an agent decided in a run, as drafted. */
const drafted = z.object({
  kind: z.enum(decisionKinds),
  title: z.string().min(1).max(120),
  why: z.string().max(2_000),
  alternatives: z.array(z.string().max(300)).max(5).default([]),
  paths: z.array(z.string().min(1).max(MAX_PATH)).min(1).max(20),
  steps: z.array(z.int().min(0)).min(1).max(20),
});

export type DraftedDecision = Readonly<z.output<typeof drafted>>;

/** The drafted decisions that keep the limits, in their order; others are dropped. */
export function parseDraftedDecisions(given: readonly unknown[]): readonly DraftedDecision[] {
  return given
    .flatMap((each) => {
      const read = drafted.safeParse(each);
      return read.success ? [read.data] : [];
    })
    .slice(0, MAX_DECISIONS);
}
