import { z } from "zod";
import { completedFields, displayName, distinct, labels, slug, toolName } from "../resources/fields.js";

// In this file, descriptions precede `.default()`. A block that changes a live station uses the fields without their
// defaults, and must keep the descriptions.
const text = (max: number) => z.string().max(max, `must be at most ${max} characters`);
const judge = z.strictObject({
  rubric: text(50_000).describe("Text that tells the judging model how to score a change; empty for none.").default(""),
  scale: z
    .enum(["yes-no", "number"], "must be yes-no or number")
    .describe("How a rubric scores: `yes-no` gives 0 or 1, `number` 1 to 5. Ignored with claims.")
    .default("yes-no"),
  passScore: z
    .number("must be a number")
    .min(1, "must be at least 1")
    .max(5, "must be at most 5")
    .nullable()
    .describe("Lowest score that passes, 1 to 5, only with the scale `number`; null means 4.")
    .default(null),
  claims: z
    .array(text(2_000).min(1, "must not be empty"))
    .max(50, "must be at most 50 claims")
    .describe("Statements that the judging model marks as met or not; at most 50.")
    .default([]),
  passShare: z
    .number("must be a number")
    .min(0, "must be at least 0")
    .max(1, "must be at most 1")
    .nullable()
    .describe("Share of the claims to meet, 0 to 1, only with claims; null means 1.")
    .default(null),
  model: text(255)
    .nullable()
    .describe("Judging model for this station; null for the deployment's `MODEL_NAME`.")
    .default(null),
});

const alert = z.strictObject({
  measure: z
    .enum(["failure-share", "cost", "minutes"], "must be failure-share, cost or minutes")
    .describe("Figure to watch: share of failed runs, mean cost, or mean minutes."),
  above: z
    .number("must be a number")
    .min(0, "must be at least 0")
    .describe("The alert fires above this value, in the unit of `measure`; at most 1 for a share."),
  over: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(500, "must be at most 500")
    .describe("Number of latest completed or failed runs to measure; 1 to 500."),
});

/** The name of a harness. The harness decides how runners start an agent. */
export const harnessName = text(64).regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lowercase words joined by dashes");

/** Maximum duration of a run, in minutes. */
export const timeoutMinutes = z
  .number("must be a number")
  .positive("must be above 0")
  .max(24 * 60, "must be at most a day");

/** One station in the body of a line. `id` is read-only: clients may send it back unchanged, but not set it. */
export const stationSchema = z.strictObject({
  id: z.string().describe("Issued by the service and read-only; a station keeps it while its key stays.").optional(),
  key: slug.describe("Names the station within its line; lowercase words joined by dashes."),
  name: displayName.describe("Title of the station for people, 1 to 100 characters."),
  kind: z
    .enum(["work", "review"], "must be work or review")
    .describe("`work`: agents change the repositories. `review`: agents read a change and write a review."),
  harness: harnessName
    .describe("Program type that runs the agent. A runner of the workspace must offer it.")
    .default("command"),
  model: text(255)
    .nullable()
    .describe("Model that the harness uses; null for the harness's own default.")
    .default(null),
  effort: z
    .enum(["low", "medium", "high", "xhigh", "max"], "must be low, medium, high, xhigh or max")
    .nullable()
    .describe("Reasoning effort that the harness passes to the model; null for its default.")
    .default(null),
  profile: slug
    .nullable()
    .describe("Key of the team's harness profile for the same harness; null for none.")
    .default(null),
  prompt: text(200_000).describe("Instructions for the agent of every run at the station.").default(""),
  skills: distinct(slug, "must name each skill once")
    .max(20, "must be at most 20 skills")
    .describe("Keys of the team's skills that every run gets; at most 20.")
    .default([]),
  tools: z
    .array(
      z.union([
        toolName.transform((tool) => ({ tool, approval: false })),
        z.strictObject({
          tool: toolName.describe("The tool as `<integration>.<tool>`, offered by an integration of the team."),
          approval: z
            .boolean("must be true or false")
            .describe("Whether a person must approve each call of the station's agents.")
            .default(false),
        }),
      ]),
    )
    .max(100, "must be at most 100 tools")
    .describe("Tools that the agent may call. A name alone means a tool without `approval`.")
    .default([]),
  judge: judge.nullable().describe("How a model scores the changes of replay runs; null for no judge.").default(null),
  check: text(10_000)
    .min(1, "must not be empty")
    .nullable()
    .describe("Shell command that verifies the work; it must exit with 0 before a handover. Null for none.")
    .default(null),
  diffs: z
    .boolean("must be true or false")
    .describe("Whether change stacks are drafted from the station's changes.")
    .default(false),
  decisions: z
    .boolean("must be true or false")
    .describe("Whether the service drafts the decisions that agents made in runs.")
    .default(false),
  runners: z
    .strictObject({
      pool: slug
        .nullable()
        .describe("Key of the runner pool; null for the workspace's default pool, else any pool.")
        .default(null),
      labels: labels.describe("Labels that a runner must have to take the station's runs; at most 50."),
    })
    .describe("Which runners may take the runs of the station.")
    .default({ pool: null, labels: [] }),
  passesTo: distinct(slug, "must name each station once")
    .max(50, "must be at most 50 stations")
    .optional()
    .describe(
      "Keys of the stations that the station hands tasks over to. If omitted at every station of a new line, " +
        "or in an update of a line where some station passes on, each station passes to the next one. If omitted " +
        "otherwise: none. A station block that is proposed by itself keeps the live station's keys if it omits " +
        "them.",
    )
    .register(completedFields),
  timeoutMinutes: timeoutMinutes
    .describe("Longest duration of a run, in minutes; above 0 and at most 1440.")
    .default(60),
  alerts: z
    .array(alert)
    .max(20, "must be at most 20 alerts")
    .describe("Thresholds for the station's latest runs; at most 20.")
    .default([]),
});

/** A station in a body, with defaults. `passesTo` may still be missing (`passing.ts`). */
export type StationBlock = z.output<typeof stationSchema>;
/** A station with all of its fields. */
export interface StationBody extends Omit<StationBlock, "passesTo"> {
  passesTo: string[];
}
/** A stored station, with its id. */
export type Station = StationBody & { readonly id: string };

/** The currency of an amount of money (ISO 4217). */
export const currencySchema = z.string().regex(/^[A-Z]{3}$/, "must be a currency such as EUR");
