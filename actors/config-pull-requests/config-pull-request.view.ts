import { z } from "zod";
import { type ConfigPullRequestRow, configPullRequestStates, openingRefusals } from "./config-pull-request.js";

const reason = z
  .strictObject({
    code: z
      .enum(openingRefusals)
      .describe(
        "`no-source`: the line names no `source`. `no-connection`: the service cannot commit to the source's repository.",
      ),
    message: z.string(),
    attribute: z.string().nullable().describe("The station attribute."),
    expression: z.string().nullable().describe("The infrastructure expression that computes the attribute."),
    wanted: z.string().nullable().describe("The value to set by hand."),
  })
  .meta({ title: "config-pull-request-refusal" });

const outcome = {
  id: z.string(),
  state: z.enum(configPullRequestStates),
  url: z.string().nullable().describe("Null until it is opened."),
  reason: reason.nullable().describe("Why none was opened; null unless it is refused."),
};

/** A candidate's config pull request, as its search has it. */
export const candidatePullRequestSchema = z.strictObject(outcome).meta({ title: "candidate-pull-request" });

export type CandidatePullRequest = z.output<typeof candidatePullRequestSchema>;

export function candidatePullRequest({ id, state, url, reason }: ConfigPullRequestRow): CandidatePullRequest {
  return { id, state, url, reason };
}

/** A config pull request by itself. */
export const configPullRequestSchema = z
  .strictObject({
    ...outcome,
    teamId: z.string(),
    searchId: z.string(),
    candidateId: z.string(),
    lineId: z.string(),
    stationId: z.string(),
    candidateName: z.string(),
    stationKey: z.string(),
    repository: z.string().nullable().describe("The line's source when it was last picked; null when it named none."),
    path: z.string().nullable().describe("The same."),
    branch: z.string().describe("The branch that is committed to."),
    attempts: z.int().describe("How often people picked it."),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ title: "config-pull-request" });

export function configPullRequestView(row: ConfigPullRequestRow): z.output<typeof configPullRequestSchema> {
  const { source, ...rest } = row;
  return { ...rest, repository: source?.repository ?? null, path: source?.path ?? null };
}
