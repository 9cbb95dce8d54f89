import { z } from "zod";
import { displayName, repositoryName, slug } from "../resources/fields.js";
import { currencySchema, type Station, stationSchema } from "./station.js";

const repository = z.strictObject({
  name: repositoryName.describe("Repository on the code host as `owner/name`."),
  setup: z
    .string()
    .min(1, "must not be empty")
    .max(10_000, "must be at most 10000 characters")
    .nullable()
    .default(null)
    .describe("Shell command that runs in each new checkout before the agent starts; null for none."),
  image: z
    .string()
    .min(1, "must not be empty")
    .max(512, "must be at most 512 characters")
    .nullable()
    .default(null)
    .describe("Container image for the runs; null for none. Runners cannot start containers yet."),
});

/** The default of `minGain`, the smallest gain that counts as real. */
export const DEFAULT_MIN_GAIN = 0.05;

/** When and how the service opens pull requests for a line's tasks. */
const pullRequests = z.strictObject({
  open: z
    .enum(["finish", "agent", "never"], "must be finish, agent or never")
    .default("finish")
    .describe("`finish`: when the task is done, or earlier if the agent asks. `agent`: only if it asks."),
  draft: z.boolean("must be true or false").default(false).describe("Whether pull requests open as drafts."),
  base: z
    .string()
    .min(1, "must not be empty")
    .max(255, "must be at most 255 characters")
    .nullable()
    .default(null)
    .describe("Branch that pull requests merge into; null for the repository's default branch."),
});

/** The default pull request settings of a line. */
const defaultPullRequests: z.output<typeof pullRequests> = { open: "finish", draft: false, base: null };

/** The body of a line. */
export const lineSchema = z.strictObject({
  key: slug.describe("Names the line within its team; lowercase words joined by dashes. Fixed after the create."),
  name: displayName.describe("Title of the line for people, 1 to 100 characters."),
  repositories: z
    .array(repository)
    .max(50, "must be at most 50 repositories")
    .default([])
    .describe("Repositories that every run of the line checks out; at most 50."),
  source: z
    .strictObject({
      repository: repositoryName.describe("Repository that contains the line's HCL, as `owner/name`."),
      path: z
        .string()
        .min(1, "must not be empty")
        .max(1_024)
        .describe("Path of the file in that repository that defines the line."),
    })
    .nullable()
    .default(null)
    .describe("Where the line's configuration as code is kept; config pull requests change it there."),
  replayCheck: z
    .strictObject({
      mostRegressions: z
        .int("must be a whole number")
        .min(0, "must be at least 0")
        .describe("A check fails if more tasks than this regress."),
      ceiling: z
        .number("must be a number")
        .positive("must be above 0")
        .max(1_000, "must be at most 1000")
        .describe("Most that one check may spend, in `currency`; at most 1000."),
      currency: currencySchema.describe("Currency of `ceiling` as an ISO 4217 code, such as `EUR`."),
      minGain: z
        .number("must be a number")
        .min(0, "must be at least 0")
        .max(1, "must be at most 1")
        .default(DEFAULT_MIN_GAIN)
        .describe("Smallest gain in success rate that counts as real, 0 to 1."),
    })
    .nullable()
    .default(null)
    .describe("Terms for replay checks of planned changes; null if the line has none."),
  pullRequests: pullRequests
    .nullable()
    .default(null)
    .describe("How the service opens pull requests for tasks; null for the defaults."),
  stations: z
    .array(stationSchema)
    .min(1, "must have at least one station")
    .max(100, "must be at most 100 stations")
    .describe("Stations of the line in order, 1 to 100; tasks start at the first."),
});

export type LineBody = z.output<typeof lineSchema>;

/** A stored line: its stations have ids. */
export type LineFields = Omit<LineBody, "stations"> & { readonly stations: readonly Station[] };

/** Returns the pull request settings of the line. */
export function pullRequestTerms(line: Pick<LineFields, "pullRequests">): z.output<typeof pullRequests> {
  return line.pullRequests ?? defaultPullRequests;
}
