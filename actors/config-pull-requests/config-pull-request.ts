import { z } from "zod";
import type { Shown, Stored } from "../view.js";

/** The states of a config pull request (see "States and transitions" in the replays document). */
export const configPullRequestStates = ["opening", "opened", "refused"] as const;

/** The reasons why no pull request could be opened. */
export const openingRefusals = [
  ...(["no-source", "no-connection", "not-found", "not-hcl", "ambiguous", "computed"] as const),
  ...(["changed-meanwhile", "no-access", "branch-taken", "not-proven"] as const),
] as const;

/** Maximum length of a value in a refusal, in characters. */
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

/**
 * Why no pull request was opened, for people. `attribute` and `expression` are null if the reason concerns none.
 * `wanted` is the value to set by hand, or one line of HCL for each changed attribute. `wanted` is null if there is
 * nothing to set, or if it is longer than {@link MAX_WANTED_CHARACTERS}.
 */
export type OpeningRefusal = NonNullable<ConfigPullRequestRow["reason"]>;

/** A pull request that changes a line's config to the config of a search candidate. */
export interface ConfigPullRequestRow
  extends Stored<typeof configPullRequestSchema, "repository" | "path" | "waitsUntil"> {
  /** The line's source at the last pick; null if the line had none. */
  readonly source: ConfigSource | null;
  /** When the code host's rate limit ends; absent or null if the pull request does not wait for it. */
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
 * Maximum length of a branch name between `config/` and the id at its end, in characters. The host stores a ref as a
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
