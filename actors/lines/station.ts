import { z } from "zod";
import { completedFields, displayName, distinct, labels, slug, toolName } from "../resources/fields.js";

const text = (max: number) => z.string().max(max, `must be at most ${max} characters`);
const judge = z.strictObject({
  rubric: text(50_000).default(""),
  scale: z.enum(["yes-no", "number"], "must be yes-no or number").default("yes-no"),
  passScore: z
    .number("must be a number")
    .min(1, "must be at least 1")
    .max(5, "must be at most 5")
    .nullable()
    .default(null),
  claims: z.array(text(2_000).min(1, "must not be empty")).max(50, "must be at most 50 claims").default([]),
  passShare: z
    .number("must be a number")
    .min(0, "must be at least 0")
    .max(1, "must be at most 1")
    .nullable()
    .default(null),
  model: text(255).nullable().default(null),
});

const alert = z.strictObject({
  measure: z.enum(["failure-share", "cost", "minutes"], "must be failure-share, cost or minutes"),
  above: z.number("must be a number").min(0, "must be at least 0"),
  over: z.int("must be a whole number").min(1, "must be at least 1").max(500, "must be at most 500"),
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
  id: z.string().optional(),
  key: slug,
  name: displayName,
  kind: z.enum(["work", "review"], "must be work or review"),
  harness: harnessName.default("command"),
  model: text(255).nullable().default(null),
  effort: z
    .enum(["low", "medium", "high", "xhigh", "max"], "must be low, medium, high, xhigh or max")
    .nullable()
    .default(null),
  profile: slug.nullable().default(null),
  prompt: text(200_000).default(""),
  skills: distinct(slug, "must name each skill once").max(20, "must be at most 20 skills").default([]),
  tools: z
    .array(
      z.union([
        toolName.transform((tool) => ({ tool, approval: false })),
        z.strictObject({ tool: toolName, approval: z.boolean("must be true or false").default(false) }),
      ]),
    )
    .max(100, "must be at most 100 tools")
    .default([]),
  judge: judge.nullable().default(null),
  check: text(10_000).min(1, "must not be empty").nullable().default(null),
  diffs: z.boolean("must be true or false").default(false),
  decisions: z.boolean("must be true or false").default(false),
  runners: z.strictObject({ pool: slug.nullable().default(null), labels }).default({ pool: null, labels: [] }),
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
  timeoutMinutes: timeoutMinutes.default(60),
  alerts: z.array(alert).max(20, "must be at most 20 alerts").default([]),
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
