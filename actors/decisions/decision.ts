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
    id: z.string().describe("The id of the decision (`dec_…`)."),
    taskId: z.string().describe("The task in which the agent made the decision."),
    teamId: z.string().describe("The team that the task belongs to."),
    runId: z.string().describe("The run in which the agent made the decision."),
    repository: z.string().describe("The repository where the task's pull request was merged, as `owner/name`."),
    pullRequest: z.string().describe("The URL of the pull request."),
    kind: z.enum(decisionKinds).describe("What kind of decision the agent made, such as a trade-off or an assumption."),
    title: z.string().describe("The decision in a few words, at most 120 characters."),
    why: z.string().describe("The reason for the decision, at most 2,000 characters; may be empty."),
    alternatives: z.array(z.string()).describe("The options that the agent did not choose, at most 5."),
    paths: z.array(z.string()).describe("The files that the decision affects."),
    steps: z.array(z.int()).describe("The indexes of the run's steps in which the agent made the decision."),
    disputes: z
      .array(
        z.strictObject({
          file: z.string().describe("The path of the file that the dispute is about."),
          userId: z.string().describe("The person who disputes the decision (`usr_…`)."),
          reason: z.string().describe("Why the person disputes the decision."),
        }),
      )
      .describe("The objections of people to the decision; none in this release."),
    standing: z.literal("stands").describe("Always `stands`: only decisions of merged pull requests are listed."),
    draftedAt: z.iso.datetime().describe("When the agent recorded the decision, as an RFC 3339 time."),
    mergedAt: z.iso.datetime().describe("When the pull request was merged, as an RFC 3339 time."),
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
