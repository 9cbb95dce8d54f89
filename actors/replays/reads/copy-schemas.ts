import { z } from "zod";
import { spentSchema } from "../../runners/protocol.js";
import type { Shown } from "../../view.js";

const count = z.int();
const place = z.int().nullable();

/** The check result in lists. */
export const listedCheckSchema = z.strictObject({ passed: z.boolean(), exitCode: count.nullable() });

const checkSchema = listedCheckSchema.extend({
  output: z.string().describe("In an entry of a replay its last 1,024 bytes."),
});

const reason = z.strictObject({
  text: z.string(),
  claim: place.describe("The claim's place, from 0; null on a rubric's scale."),
  citations: z.array(z.strictObject({ kind: z.enum(["step", "hunk"]), step: place, hunk: place })),
});

/** A verdict in lists. */
export const listedJudgeSchema = z.strictObject({
  scale: z.enum(["yes-no", "number", "claims"]).nullable().describe("Null without a verdict, as all that follows."),
  passed: z.boolean().nullable(),
  score: z.number().nullable().describe("0 or 1 on `yes-no`, 1 to 5 on `number`, the share of claims met on `claims`."),
  marks: z.array(z.boolean()).nullable().describe("Whether each claim is met; null unless there are claims."),
  passShare: z.number().nullable().describe("The share of claims to meet; null unless there are claims."),
  model: z.string().nullable(),
  promptVersion: count.nullable().describe("Of what the model was told."),
  cut: z.boolean().nullable().describe("Whether it saw only a part of the change."),
});

/** A verdict with its claims and reasons. */
export const judgeSchema = listedJudgeSchema.extend({
  claims: z
    .array(z.string())
    .describe(
      "As they were worded when judged; empty unless there are any. In an entry of a replay cut to 2,048 bytes.",
    ),
  reasons: z.array(reason).describe("In an entry of a replay cut to 2,048 bytes."),
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
  outcome: z.enum(["win", "loss", "tie"]).nullable().describe("Null unless it is judged."),
  model: z.string().nullable(),
  unpaired: z.enum(unpairedReasons).nullable().describe("Why it was not compared."),
  readings: z.array(listedReadingSchema).nullable().describe("Of both orders; null until they are read."),
});

/** One of the two readings of a pair, with its reasons. */
export const readingSchema = listedReadingSchema.extend({ reasons: z.array(pairReason) });

/** A pair with the reasons of its readings. */
export const pairSchema = listedPairSchema.extend({
  readings: z
    .array(readingSchema)
    .nullable()
    .describe("Of both orders; null until they are read. In an entry of a replay reasons are cut to 2,048 bytes."),
});

const money = spentSchema.nullable();

/** A copy with its outputs, reasons and claims. */
export const copySchema = z.strictObject({
  runId: z.string().nullable().describe("Its newest run; null until it has one."),
  originalRunId: z.string(),
  taskId: z.string(),
  title: z.string().describe("The task's."),
  repeat: count.describe("Which copy of the original run, from 1."),
  state: z
    .enum(["waiting", "queued", "running", "settled", "judging", "judged"])
    .describe(
      "`waiting` for a place in the queue, for good once the replay has ended; `queued` until a runner takes it; " +
        "`settled` and `judged` are ends.",
    ),
  result: z
    .enum(["succeeded", "failed", "unscored"])
    .nullable()
    .describe("Null until it settled and, with a judge, was judged; for good where it never began before the end."),
  why: z.strictObject({ code: z.string(), text: z.string() }).nullable(),
  outcome: z.enum(["completed", "failed", "stopped", "abandoned", "withdrawn", "superseded"]).nullable(),
  check: checkSchema.nullable(),
  judge: judgeSchema,
  secondJudge: judgeSchema.nullable().describe("Of a replay that checks its set; null when it was not judged again."),
  rejudgingSpent: money.describe("Of its second judging."),
  recheck: checkSchema.nullable().describe("Of a replay that checks its set; null when it was not checked again."),
  pair: pairSchema.nullable().describe("Beside the copy of the replay in `pairedWith`; null until that is asked for."),
  pairingSpent: money.describe("Of its comparison with the copy in `pair`."),
  spent: money.describe("Of all its attempts, with the first judging when that is priced."),
  priced: z
    .boolean()
    .describe(
      "Whether all attempts that began their agent reported their cost in the ceiling's currency. A cost in another " +
        "does not count: a share of the ceiling counts in its place.",
    ),
  steps: count.nullable(),
  ms: count.nullable(),
  toolMisses: count.describe(
    "Calls of tools that were refused: a replay makes none, and answers those that the repeated run made too.",
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
