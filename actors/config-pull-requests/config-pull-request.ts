import { z } from "zod";
import type { Shown, Stored } from "../view.js";

/** The states of a config pull request. */
export const configPullRequestStates = ["opening", "opened", "refused"] as const;

/** The reasons why no pull request could be opened. */
export const openingRefusals = [
  ...(["no-source", "no-connection", "not-found", "not-hcl", "ambiguous", "computed"] as const),
  ...(["changed-meanwhile", "no-access", "branch-taken", "not-proven"] as const),
] as const;

/** Maximum length of `wanted` in a refusal, in characters. */
export const MAX_WANTED_CHARACTERS = 2_000;

/** The file that defines a line's config. */
export interface ConfigSource {
  /** `owner/name` */
  readonly repository: string;
  readonly path: string;
}

const reason = z
  .strictObject({
    code: z
      .enum(openingRefusals)
      .describe(
        "`no-source`: the line has no `source`. `no-connection`: no connected installation of the code host " +
          "has access to the repository, or the code host did not respond. `not-found`: the repository, the " +
          "file, or the station in the file does not exist. `not-hcl`: the file is not valid HCL. `ambiguous`: " +
          "more than one place may set the value, or one place sets more than this value. `computed`: an " +
          "expression computes the value. `changed-meanwhile`: the source or the live config differs from the " +
          "one that the candidate was measured against. `no-access`: the code host denies access. " +
          "`branch-taken`: the branch contains commits by someone else. `not-proven`: the service could not " +
          "prove that the edited file changes only the wanted values, or that the change has an effect.",
      ),
    message: z.string().describe("What went wrong and what to do, in a text for people."),
    attribute: z
      .string()
      .nullable()
      .describe("The station attribute that the refusal is about; null if it is about no attribute."),
    expression: z
      .string()
      .nullable()
      .describe("The infrastructure expression that computes the attribute; null if there is none."),
    wanted: z
      .string()
      .nullable()
      .describe(
        "The value to set by hand for the attribute. If the refusal is about no single attribute, one line of " +
          "HCL for each changed attribute. Null if there is nothing to set, or if the text is longer than 2,000 " +
          "characters; `message` then says so.",
      ),
  })
  .meta({ title: "config-pull-request-refusal", description: "Why the service opened no pull request." });

const outcome = {
  id: z.string().describe("The id of the config pull request (`cpr_…`)."),
  state: z
    .enum(configPullRequestStates)
    .describe(
      "`opening`: the service commits the change and opens the pull request. `opened`: see `url`. `refused`: see " +
        "`reason`; another pick tries again.",
    ),
  url: z.string().nullable().describe("The URL of the pull request; null until the pull request is opened."),
  reason: reason.nullable().describe("Why the service opened no pull request; null unless the state is `refused`."),
};

/** A candidate's config pull request, as shown in its search. */
export const candidatePullRequestSchema = z
  .strictObject(outcome)
  .meta({ title: "candidate-pull-request", description: "The config pull request of a picked candidate, in brief." });

/** A config pull request with its details. */
export const configPullRequestSchema = z
  .strictObject({
    ...outcome,
    teamId: z.string().describe("The team that the search belongs to."),
    searchId: z.string().describe("The search that proposed the candidate (`srch_…`)."),
    candidateId: z.string().describe("The candidate that a person picked (`cand_…`)."),
    lineId: z.string().describe("The line whose config the pull request changes (`line_…`)."),
    stationId: z.string().describe("The id of the station whose config the pull request changes."),
    candidateName: z.string().describe("The name that the search's agent gave the candidate."),
    stationKey: z.string().describe("The key of the station in its line."),
    repository: z
      .string()
      .nullable()
      .describe("The repository of the line's source at the latest pick; null if the line had no source."),
    path: z
      .string()
      .nullable()
      .describe("The path of the line's source at the latest pick; null if the line had no source."),
    branch: z.string().describe("The branch that the service commits to."),
    attempts: z.int().describe("Number of attempts to open the pull request. A pick counts if it starts an attempt."),
    waitsUntil: z
      .string()
      .nullable()
      .describe("When the code host accepts requests again; null if the pull request does not wait for the code host."),
    createdAt: z.string().describe("When a person first picked the candidate, as an RFC 3339 time."),
    updatedAt: z.string().describe("When this config pull request last changed, as an RFC 3339 time."),
  })
  .meta({ title: "config-pull-request", description: "A pull request that changes a line's config to a candidate's." });

/**
 * Why no pull request was opened, for people.
 * - `attribute` and `expression` say what the reason concerns; both are null if it concerns none.
 * - `wanted` is the value to set by hand, or one line of HCL for each changed attribute. Null if there is nothing to
 *   set, or if the text is longer than {@link MAX_WANTED_CHARACTERS}.
 */
export type OpeningRefusal = NonNullable<ConfigPullRequestRow["reason"]>;

/** A pull request that changes a line's config to the config of a search candidate. */
export interface ConfigPullRequestRow
  extends Stored<typeof configPullRequestSchema, "repository" | "path" | "waitsUntil"> {
  /** The line's source when the latest attempt started; null if the line had none. */
  readonly source: ConfigSource | null;
  /** When the code host's rate limit ends; absent or null if the pull request does not wait for the limit to end. */
  readonly waitsUntil?: string | null;
}

/** The search candidate that a person picked. */
export type PickedCandidate = Pick<
  ConfigPullRequestRow,
  "teamId" | "searchId" | "candidateId" | "candidateName" | "lineId" | "stationId" | "stationKey"
>;

/** A candidate's config pull request, as shown in its search. */
export type CandidatePullRequest = Shown<typeof candidatePullRequestSchema>;

/**
 * Maximum length of the part of a branch name between `config/` and the id, in characters. The host stores a ref as a
 * file, whose name has at most 255 bytes.
 */
const MAX_NAME_LENGTH = 200;

/**
 * Returns the branch name: `config/<line>-<station>-<candidate>-<last 8 characters of the pull request's id>`. Invalid
 * characters become hyphens, and long names are cut.
 */
export function toBranch({
  lineKey,
  stationKey,
  candidateName,
  id,
}: Pick<ConfigPullRequestRow, "stationKey" | "candidateName" | "id"> & { readonly lineKey: string }): string {
  const name = toRefText(`${lineKey}-${stationKey}-${candidateName}`).slice(0, MAX_NAME_LENGTH);
  return `config/${name}-${toRefText(id.slice(-8))}`;
}

/** Converts a text to letters, digits, single dots, hyphens and underscores, without a dot at the start or end. */
function toRefText(text: string): string {
  return text
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^\.|\.$/g, "-");
}
