import { z } from "zod";
import type { Stored } from "../view.js";

/** The kinds of a decision (see "Change stack and decisions" in the expressions and insights document). */
export const decisionKinds = ["trade-off", "assumption", "limitation", "rejected-approach", "deviation"] as const;

/** Maximum number of decisions stored for one set. Further decisions of a draft are dropped. */
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

/** A standing decision in a list. */
export const decisionSchema = z
  .strictObject({
    id: z.string(),
    taskId: z.string(),
    teamId: z.string(),
    runId: z.string().describe("The run in which the agent made the decision."),
    repository: z.string().describe("The repository where the task's pull request was merged, as `owner/name`."),
    pullRequest: z.string().describe("The URL of the pull request."),
    kind: z.enum(decisionKinds),
    title: z.string(),
    why: z.string(),
    alternatives: z.array(z.string()),
    paths: z.array(z.string()).describe("The files that the decision affects."),
    steps: z.array(z.int()).describe("The indexes of the run's steps in which the agent made the decision."),
    disputes: z.array(z.strictObject({ file: z.string(), userId: z.string(), reason: z.string() })),
    standing: z.literal("stands"),
    draftedAt: z.iso.datetime(),
    mergedAt: z.iso.datetime(),
  })
  .meta({ title: "decision" });

/** A recorded decision. */
export type DecisionRow = Stored<typeof decisionSchema, "repository" | "pullRequest" | "standing" | "mergedAt">;

/**
 * Returns the drafted decisions that are within the limits, in their order, up to {@link MAX_DECISIONS}. Drops the
 * others.
 */
export function parseDraftedDecisions(given: readonly unknown[]): readonly DraftedDecision[] {
  return given
    .flatMap((each) => {
      const read = drafted.safeParse(each);
      return read.success ? [read.data] : [];
    })
    .slice(0, MAX_DECISIONS);
}
