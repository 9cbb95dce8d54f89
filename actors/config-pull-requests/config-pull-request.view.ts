import { z } from "zod";
import { type ConfigPullRequestRow, configPullRequestStates, openingRefusals } from "./config-pull-request.js";

const reason = z
  .strictObject({
    code: z
      .enum(openingRefusals)
      .describe(
        "`no-source`: the line names no `source`. `no-connection`: no installation of the code host that reaches its " +
          "repository is connected, or the code host did not answer. `not-found`: the repository, the file, or the station " +
          "in it is not there. `not-hcl`: the file is no HCL. `ambiguous`: more than one place may give the value, or one " +
          "place more than it. `computed`: an expression gives the value. `changed-meanwhile`: the source, or the live " +
          "config, is not what the candidate was measured against. `no-access`: the code host refuses. `branch-taken`: the " +
          "branch holds commits of somebody else. `not-proven`: the edited file could not be shown to differ in the wanted " +
          "values alone, or to have an effect.",
      ),
    message: z.string(),
    attribute: z.string().nullable().describe("The station attribute."),
    expression: z.string().nullable().describe("The infrastructure expression that computes the attribute."),
    wanted: z
      .string()
      .nullable()
      .describe(
        "The value to set by hand, of the attribute; of a refusal that is about no attribute that changes, a line of HCL " +
          "for each that does. Null also where it is longer than 2,000 characters, which `message` says then.",
      ),
  })
  .meta({ title: "config-pull-request-refusal" });

const outcome = {
  id: z.string(),
  state: z.enum(configPullRequestStates),
  url: z.string().nullable().describe("Null until it is opened."),
  reason: reason.nullable().describe("Why none was opened; null unless it is refused."),
};

/** A candidate's config pull request, as shown in its search. */
export const candidatePullRequestSchema = z.strictObject(outcome).meta({ title: "candidate-pull-request" });

export type CandidatePullRequest = z.output<typeof candidatePullRequestSchema>;

export function candidatePullRequest({ id, state, url, reason }: ConfigPullRequestRow): CandidatePullRequest {
  return { id, state, url, reason };
}

/** A config pull request with its details. */
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
    waitsUntil: z
      .string()
      .nullable()
      .describe("Until when the code host takes no more; null while nothing waits for it."),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ title: "config-pull-request" });

export function configPullRequestView(row: ConfigPullRequestRow): z.output<typeof configPullRequestSchema> {
  const { source, waitsUntil = null, ...rest } = row;
  return { ...rest, waitsUntil, repository: source?.repository ?? null, path: source?.path ?? null };
}
