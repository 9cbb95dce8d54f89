import { z } from "zod";
import { spentSchema } from "../../runners/protocol.js";
import type { Shown } from "../../view.js";

const count = z.int();
const place = z.int().nullable();

/** The check result in lists. */
export const listedCheckSchema = z.strictObject({ passed: z.boolean(), exitCode: count.nullable() });

const checkSchema = listedCheckSchema.extend({
  output: z.string().describe("The output of the check. In `entries` of a replay, only the last 1,024 bytes."),
});

const reason = z.strictObject({
  text: z.string(),
  claim: place.describe("The index of the claim, from 0; null if the rubric has no claims."),
  citations: z.array(z.strictObject({ kind: z.enum(["step", "hunk"]), step: place, hunk: place })),
});

/** A verdict in lists. */
export const listedJudgeSchema = z.strictObject({
  scale: z
    .enum(["yes-no", "number", "claims"])
    .nullable()
    .describe("The scale of the rubric. Null if there is no verdict; the other fields are then null or empty."),
  passed: z.boolean().nullable(),
  score: z
    .number()
    .nullable()
    .describe("0 or 1 for `yes-no`, 1 to 5 for `number`, the share of met claims for `claims`."),
  marks: z
    .array(z.boolean())
    .nullable()
    .describe("For each claim, whether it is met; null if the rubric has no claims."),
  passShare: z
    .number()
    .nullable()
    .describe("The share of claims that must be met to pass; null if the rubric has no claims."),
  model: z.string().nullable(),
  promptVersion: count.nullable().describe("The version of the prompt that the model received."),
  cut: z.boolean().nullable().describe("Whether the model received only a part of the change."),
});

/** A verdict with its claims and reasons. */
export const judgeSchema = listedJudgeSchema.extend({
  claims: z
    .array(z.string())
    .describe(
      "The claims as worded at the time of judging; empty if the rubric has none. In `entries` of a replay, " +
        "cut to 2,048 bytes.",
    ),
  reasons: z.array(reason).describe("The reasons for the verdict. In `entries` of a replay, cut to 2,048 bytes."),
});

const pairReason = z.strictObject({ text: z.string(), ownHunks: z.array(count), theirHunks: z.array(count) });
/** One of the two readings of a pair, in lists. */
export const listedReadingSchema = z.strictObject({
  ownShownFirst: z.boolean(),
  outcome: z.enum(["win", "loss", "tie"]),
});

const unpairedReasons = ["not-judged", "other-rubric", "not-set-up", "unsettled", "no-change", "budget"] as const;

/** A pair in lists. */
export const listedPairSchema = z.strictObject({
  state: z.enum(["asked", "judged", "unpaired"]),
  againstRunId: z.string().nullable(),
  outcome: z.enum(["win", "loss", "tie"]).nullable().describe("Null unless the state is `judged`."),
  model: z.string().nullable(),
  unpaired: z
    .enum(unpairedReasons)
    .nullable()
    .describe("Why the copies were not compared; null unless the state is `unpaired`."),
  readings: z
    .array(listedReadingSchema)
    .nullable()
    .describe("The model's readings, one in each order; null before the first one."),
});

/** One of the two readings of a pair, with its reasons. */
export const readingSchema = listedReadingSchema.extend({ reasons: z.array(pairReason) });

/** A pair with the reasons of its readings. */
export const pairSchema = listedPairSchema.extend({
  readings: z
    .array(readingSchema)
    .nullable()
    .describe(
      "The model's readings, one in each order; null before the first one. In `entries` of a replay, reasons are cut " +
        "to 2,048 bytes.",
    ),
});

const money = spentSchema.nullable();

/** A copy with its outputs, reasons and claims. */
export const copySchema = z.strictObject({
  runId: z.string().nullable().describe("The latest run of the copy; null until it has one."),
  originalRunId: z.string(),
  taskId: z.string(),
  title: z.string().describe("The title of the task."),
  repeat: count.describe("The number of this copy of the original run, from 1."),
  state: z
    .enum(["waiting", "queued", "running", "settled", "judging", "judged"])
    .describe(
      "`waiting`: the copy waits for a place in the queue. If the replay has ended, the copy never runs. " +
        "`queued`: no runner has claimed the run yet. `settled` and `judged` are end states.",
    ),
  result: z
    .enum(["succeeded", "failed", "unscored"])
    .nullable()
    .describe(
      "Null until the copy has settled and, at a station with a judge, was judged. Stays null if the replay " +
        "ended before the copy started.",
    ),
  why: z.strictObject({ code: z.string(), text: z.string() }).nullable(),
  outcome: z.enum(["completed", "failed", "stopped", "abandoned", "withdrawn", "superseded"]).nullable(),
  check: checkSchema.nullable(),
  judge: judgeSchema,
  secondJudge: judgeSchema
    .nullable()
    .describe(
      "The verdict of the second judging, in a replay that checks its set; null if the copy was not judged again.",
    ),
  rejudgingSpent: money.describe("The cost of the second judging."),
  recheck: checkSchema
    .nullable()
    .describe(
      "The result of the second check, in a replay that checks its set; null if the copy was not checked again.",
    ),
  pair: pairSchema
    .nullable()
    .describe(
      "The comparison with the copy of the replay in `pairedWith`; null until the service requests the comparison.",
    ),
  pairingSpent: money.describe("The cost of the comparison in `pair`."),
  spent: money.describe("The cost of all attempts, including the first judging if its price is known."),
  priced: z
    .boolean()
    .describe(
      "Whether every attempt that started its agent reported a cost in the ceiling's currency. For a cost in " +
        "another currency, a share of the ceiling counts instead.",
    ),
  steps: count.nullable(),
  ms: count.nullable(),
  toolMisses: count.describe(
    "Number of refused tool calls. A replay sends no tool calls: it answers calls that the original run also " +
      "made, and refuses all others.",
  ),
});

/** A copy in a list of replays and on the stream: without outputs, reasons and claims. */
export const listedCopySchema = copySchema.extend({
  check: listedCheckSchema.nullable(),
  judge: listedJudgeSchema,
  secondJudge: listedJudgeSchema.nullable(),
  recheck: listedCheckSchema.nullable(),
  pair: listedPairSchema.nullable(),
});

/** The views of a copy, and of its judging, pair and checks. */
export type JudgeView = Shown<typeof judgeSchema>;
export type PairView = Shown<typeof pairSchema>;
export type CheckView = Shown<typeof checkSchema>;

export type ListedCopyView = Shown<typeof listedCopySchema>;
export type CopyView = Shown<typeof copySchema>;
