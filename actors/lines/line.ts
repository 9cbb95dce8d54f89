import { z } from "zod";
import { displayName, repositoryName, slug } from "../resources/fields.js";
import { currencySchema, type Station, stationSchema } from "./station.js";

const repository = z.strictObject({
  name: repositoryName,
  setup: z
    .string()
    .min(1, "must not be empty")
    .max(10_000, "must be at most 10000 characters")
    .nullable()
    .default(null),
  image: z.string().min(1, "must not be empty").max(512, "must be at most 512 characters").nullable().default(null),
});

/** The default of `minGain`, the smallest gain that counts as real. */
export const DEFAULT_MIN_GAIN = 0.05;

/** When and how the service opens pull requests for a line's tasks. */
const pullRequests = z.strictObject({
  /** `finish`: when the task is finished, or earlier at the agent's request. `agent`: only at the agent's request. */
  open: z.enum(["finish", "agent", "never"], "must be finish, agent or never").default("finish"),
  draft: z.boolean("must be true or false").default(false),
  /** The branch to merge into; null for the default branch. */
  base: z.string().min(1, "must not be empty").max(255, "must be at most 255 characters").nullable().default(null),
});

/** The default pull request settings of a line. */
const defaultPullRequests: z.output<typeof pullRequests> = { open: "finish", draft: false, base: null };

/** The body of a line. */
export const lineSchema = z.strictObject({
  key: slug,
  name: displayName,
  repositories: z.array(repository).max(50, "must be at most 50 repositories").default([]),
  source: z
    .strictObject({ repository: repositoryName, path: z.string().min(1, "must not be empty").max(1_024) })
    .nullable()
    .default(null),
  replayCheck: z
    .strictObject({
      mostRegressions: z.int("must be a whole number").min(0, "must be at least 0"),
      ceiling: z.number("must be a number").positive("must be above 0").max(1_000, "must be at most 1000"),
      currency: currencySchema,
      minGain: z
        .number("must be a number")
        .min(0, "must be at least 0")
        .max(1, "must be at most 1")
        .default(DEFAULT_MIN_GAIN),
    })
    .nullable()
    .default(null),
  pullRequests: pullRequests.nullable().default(null),
  stations: z.array(stationSchema).min(1, "must have at least one station").max(100, "must be at most 100 stations"),
});

export type LineBody = z.output<typeof lineSchema>;

/** A stored line: its stations have ids. */
export type LineFields = Omit<LineBody, "stations"> & { readonly stations: readonly Station[] };

/** Returns the pull request settings of the line. */
export function pullRequestTerms(line: Pick<LineFields, "pullRequests">): z.output<typeof pullRequests> {
  return line.pullRequests ?? defaultPullRequests;
}
