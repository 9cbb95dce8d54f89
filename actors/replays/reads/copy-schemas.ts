import { z } from "zod";
import { spentSchema } from "../../runners/protocol.js";
import type { Shown } from "../../view.js";

const count = z.int();
const place = z.int().nullable();

/** The check result in lists. */
export const listedCheckSchema = z.strictObject({
  passed: z.boolean().describe("Whether the check command exited with 0."),
  exitCode: count.nullable().describe("The exit code of the check command; null if it has none."),
});

const checkSchema = listedCheckSchema.extend({
  output: z.string().describe("The output of the check. In `entries` of a replay, only the last 1,024 bytes."),
});

const reason = z.strictObject({
  text: z.string().describe("The reason in plain text, at most 2,000 characters."),
  claim: place.describe("The index of the claim, from 0; null if the rubric has no claims."),
  citations: z
    .array(
      z.strictObject({
        kind: z
          .enum(["step", "hunk"])
          .describe("`step`: cites a step of the copy's run. `hunk`: cites a part of its change."),
        step: place.describe("The index of the cited step in the run; null for a hunk."),
        hunk: place.describe("The number of the cited hunk in the change, from 1; null for a step."),
      }),
    )
    .describe("The steps and hunks that the reason cites, at most 5."),
});

/** A verdict in lists. */
export const listedJudgeSchema = z.strictObject({
  scale: z
    .enum(["yes-no", "number", "claims"])
    .nullable()
    .describe("The scale of the rubric. Null if there is no verdict; the other fields are then null or empty."),
  passed: z.boolean().nullable().describe("Whether the change passes; null if there is no verdict."),
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
  model: z.string().nullable().describe("The model that judged; null if there is no verdict."),
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

const pairReason = z.strictObject({
  text: z.string().describe("The reason in plain text, at most 2,000 characters."),
  ownHunks: z.array(count).describe("The numbers of the cited hunks in this copy's change, from 1."),
  theirHunks: z.array(count).describe("The numbers of the cited hunks in the other copy's change, from 1."),
});
/** One of the two readings of a pair, in lists. */
export const listedReadingSchema = z.strictObject({
  ownShownFirst: z.boolean().describe("Whether the model saw this copy's change before the other."),
  outcome: z
    .enum(["win", "loss", "tie"])
    .describe("The outcome of this reading. `win`: the model prefers this copy's change."),
});

const unpairedReasons = ["not-judged", "other-rubric", "not-set-up", "unsettled", "no-change", "budget"] as const;

/** A pair in lists. */
export const listedPairSchema = z.strictObject({
  state: z
    .enum(["asked", "judged", "unpaired"])
    .describe("`asked`: the comparison is in progress. `judged`: see `outcome`. `unpaired`: see `unpaired`."),
  againstRunId: z
    .string()
    .nullable()
    .describe("The run of the other replay's copy; null until it is known, and if there is none."),
  outcome: z
    .enum(["win", "loss", "tie"])
    .nullable()
    .describe("`win`: the judge prefers this copy's change. Null unless the state is `judged`."),
  model: z.string().nullable().describe("The model that compared the changes; null before the first reading."),
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
export const readingSchema = listedReadingSchema.extend({
  reasons: z.array(pairReason).describe("The model's reasons for the outcome of this reading."),
});

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

const ABOUT_CHECK = "The result of the station's check command; null without a check, or if it did not run.";
const ABOUT_JUDGE = "The verdict of the first judging. Its fields are null or empty if there is none.";
const ABOUT_SECOND_JUDGE =
  "The verdict of the second judging, in a replay that checks its set; null if the copy was not judged again.";
const ABOUT_RECHECK =
  "The result of the second check, in a replay that checks its set; null if the copy was not checked again.";
const ABOUT_PAIR =
  "The comparison with the copy of the replay in `pairedWith`; null until the service requests the comparison.";

/** A copy with its outputs, reasons and claims. */
export const copySchema = z.strictObject({
  runId: z.string().nullable().describe("The latest run of the copy; null until it has one."),
  originalRunId: z.string().describe("The run of the task that the copy repeats."),
  taskId: z.string().describe("The task of the original run (`task_…`)."),
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
  why: z
    .strictObject({
      code: z
        .string()
        .describe(
          "The reason for programs, such as `check-failed`, `judge-failed`, `asked`, `timed-out` or `runner-lost`.",
        ),
      text: z.string().describe("The reason in one sentence, for people."),
    })
    .nullable()
    .describe("Why the copy failed or is unscored; null if it succeeded or has no result."),
  outcome: z
    .enum(["completed", "failed", "stopped", "abandoned", "withdrawn", "superseded"])
    .nullable()
    .describe("How the copy's latest run ended; null until then. `completed` does not mean that the copy succeeded."),
  check: checkSchema.nullable().describe(ABOUT_CHECK),
  judge: judgeSchema.describe(ABOUT_JUDGE),
  secondJudge: judgeSchema.nullable().describe(ABOUT_SECOND_JUDGE),
  rejudgingSpent: money.describe("The cost of the second judging."),
  recheck: checkSchema.nullable().describe(ABOUT_RECHECK),
  pair: pairSchema.nullable().describe(ABOUT_PAIR),
  pairingSpent: money.describe("The cost of the comparison in `pair`."),
  spent: money.describe("The cost of all attempts, including the first judging if its price is known."),
  priced: z
    .boolean()
    .describe(
      "Whether every attempt that started its agent reported a cost in the ceiling's currency. For a cost in " +
        "another currency, a share of the ceiling counts instead.",
    ),
  steps: count.nullable().describe("Number of steps in the copy's latest run; null until the run has ended."),
  ms: count.nullable().describe("The duration of the copy's latest run, in milliseconds; null if unknown."),
  toolMisses: count.describe(
    "Number of refused tool calls. A replay sends no tool calls: it answers calls that the original run also " +
      "made, and refuses all others.",
  ),
});

/** A copy in a list of replays and on the stream: without outputs, reasons and claims. */
export const listedCopySchema = copySchema.extend({
  check: listedCheckSchema.nullable().describe(ABOUT_CHECK),
  judge: listedJudgeSchema.describe(ABOUT_JUDGE),
  secondJudge: listedJudgeSchema.nullable().describe(ABOUT_SECOND_JUDGE),
  recheck: listedCheckSchema.nullable().describe(ABOUT_RECHECK),
  pair: listedPairSchema.nullable().describe(ABOUT_PAIR),
});

/** The views of a copy, and of its judging, pair and checks. */
export type JudgeView = Shown<typeof judgeSchema>;
export type PairView = Shown<typeof pairSchema>;
export type CheckView = Shown<typeof checkSchema>;

export type ListedCopyView = Shown<typeof listedCopySchema>;
export type CopyView = Shown<typeof copySchema>;
