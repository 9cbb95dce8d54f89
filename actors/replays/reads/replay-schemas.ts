import { z } from "zod";
import { spentSchema } from "../../runners/protocol.js";
import type { Shown } from "../../view.js";
import { copySchema, listedCopySchema } from "./copy-schemas.js";

/** The states of a replay (see "States and transitions" in the replays document). The last three are end states. */
export const replayStates = ["queued", "running", "finished", "stopped", "over-budget"] as const;

/** What kind of candidate a replay runs. Only proposed candidates are resources. */
export const candidateKinds = ["proposed", "live", "planned", "searched", "with-answer"] as const;

const count = z.int();
const share = z.number().nullable();
const time = z.iso.datetime();
const outcome = z.enum(["win", "loss", "tie"]);
const few = z.boolean().describe("Whether it is of fewer than 5 tasks, which tell little.");

/** The success rate with its 95 % interval, bootstrapped over tasks; null while no task is scored. */
export const intervalSchema = z.strictObject({ rate: z.number(), low: z.number(), high: z.number() }).nullable();

const interval = intervalSchema.describe(
  "Success with its 95 % interval, bootstrapped over tasks; null while no task is scored.",
);

/** The gain in success over another replay. */
export const gainSchema = z.strictObject({
  gain: z.number().describe("Success gained on the tasks that both sides scored, paired task by task."),
  low: z.number(),
  high: z.number(),
  verdict: z.enum(["better", "worse", "within-noise"]),
  minGain: z.number().describe("The smallest gain that the line counts as real."),
  tasks: count.describe("The tasks that both sides scored."),
  few,
});

const totals = z.strictObject({
  successRate: share.describe(
    "Of each task the share of its scored copies that succeeded, averaged over tasks scored.",
  ),
  interval,
  tasks: count,
  tasksScored: count,
  few,
  entries: count.describe("Copies; and of these the settled, the scored, and those settled without a score."),
  settled: count,
  scored: count,
  unscored: count,
  spent: spentSchema.describe(
    "What copies reported, with first judgings, in the ceiling's currency; amounts in others do not count. Less than " +
      "`progress.spent`, which has all that counts against the ceiling.",
  ),
  costPerRun: spentSchema
    .nullable()
    .describe("Spent for each scored copy. Null while none is, and when one is unpriced or in another currency."),
});

const progress = z.strictObject({
  settled: count,
  of: count,
  spent: spentSchema.describe(
    "What counts against the ceiling: `totals.spent`, with second judgings, pairs, and what unpriced copies and calls " +
      "are taken to cost. Rises after the end until `judged`.",
  ),
  ceiling: spentSchema,
  expectedEnd: time
    .nullable()
    .describe(
      "If copies go on settling as fast as on average since the start. Null unless it runs and waits for nothing; " +
        "judging that is left then is not in it.",
    ),
  waiting: z
    .string()
    .nullable()
    .describe(
      "What it waits for; null when it goes on. `model`: the model that judges does not answer for now. `runner`: none " +
        "of its runs is with a runner and none takes the next one, since none that fits is connected or none is free; " +
        "`waiting` of `GET /api/runs/{runId}` of a queued copy says why. Streams do not say `runner`.",
    ),
});

/** The candidate of a replay, in every answer about the replay. */
const replayCandidateShape = z.strictObject({
  id: z
    .string()
    .describe(
      "Read as a replay candidate where the kind is `proposed` or `live`. The config of one with the answer is only " +
        "read of its runs: `GET /api/teams/{teamId}/runs/{runId}/config`.",
    ),
  name: z.string(),
  kind: z.enum(candidateKinds),
});

const searchShape = z
  .strictObject({ searchId: z.string(), candidateName: z.string() })
  .nullable()
  .describe(
    "The search that started it, with its name of the candidate, `seed` for the live config. What one of its candidates " +
      "gained on searched runs it was chosen by: the search has its gain on held-out runs beside it.",
  );

/** A replay without its copies and figures, as its stream publishes it. */
export const replayRowSchema = z.strictObject({
  id: z.string(),
  setId: z.string(),
  setVersion: count.describe("The version of the set that it replays."),
  lineId: z.string(),
  stationId: z.string(),
  stationKey: z.string(),
  candidate: replayCandidateShape,
  fingerprint: z.string().describe("Of the config that it runs with."),
  state: z
    .enum(replayStates)
    .describe("`finished` once every copy has a result; judging may go on after that, until `judged`."),
  judged: z
    .boolean()
    .describe(
      "Whether all judging is over and nothing more is spent. After a replay has finished, second judgings and checks " +
        "and pairs with the replay in `pairedWith` go on, once that has ended too.",
    ),
  repeats: count.describe("How many times it replays each run."),
  ceiling: spentSchema,
  createdAt: time,
  startedAt: time.nullable().describe("When a runner took its first copy."),
  endedAt: time.nullable(),
  probe: z
    .boolean()
    .describe("Whether it checks the set: changes that it leaves are judged and checked again, for the set's health."),
  pairedWith: z.string().nullable().describe("The replay that its changes are set beside."),
  search: searchShape,
  progress: progress.omit({ expectedEnd: true }),
});

const replayShape = {
  ...replayRowSchema.shape,
  progress,
  isBaseline: z.boolean().describe("Whether others of its set are compared with it."),
  totals,
  pairsAgainstBaseline: z
    .strictObject({ wins: count, losses: count, ties: count })
    .nullable()
    .describe("Tasks; null where `pairedWith` is."),
  comparedWith: z
    .strictObject({ replayId: z.string(), successRate: share, interval, tasks: count, few })
    .nullable()
    .describe("What its gain is against, with its success on the tasks that both scored."),
  againstBaseline: gainSchema
    .extend({ otherScoring: z.boolean().describe("Whether the two sides are scored differently.") })
    .nullable()
    .describe("Its gain over the replay in `comparedWith`; null while no task is scored on both sides."),
  detectableGain: share.describe(
    "The gain that noise alone seldom reaches between two such replays. Null under 5 tasks, and where no replay of the live config repeated a run.",
  ),
};

const { comparedWith, againstBaseline } = replayShape;

/** The figures of a replay without its copies, for comparison with others. */
export const replaySummarySchema = replayRowSchema
  .pick({ id: true, candidate: true, fingerprint: true, state: true, repeats: true, createdAt: true, endedAt: true })
  .extend({ totals, comparedWith, againstBaseline });

/** A replay in the list of its set. */
export const listedReplaySchema = z
  .strictObject({ ...replayShape, entries: z.array(listedCopySchema) })
  .meta({ title: "replay in a list" });

const delta = z.number().nullable();

/** A copy in the comparison of two replays. */
export const comparedCopySchema = z.strictObject({
  runId: z.string().nullable(),
  originalRunId: z.string(),
  repeat: count,
  result: z.enum(["succeeded", "failed", "unscored"]).nullable(),
  spent: spentSchema.nullable(),
  priced: z.boolean(),
  steps: count.nullable(),
  ms: count.nullable(),
  pair: outcome.nullable(),
});

const taskRowSchema = z.strictObject({
  taskId: z.string(),
  title: z.string(),
  candidate: z.array(comparedCopySchema),
  baseline: z.array(comparedCopySchema),
  candidateSuccess: share,
  candidateScored: count.describe("The copies that `candidateSuccess` is of; and those of `baselineSuccess`."),
  baselineSuccess: share,
  baselineScored: count,
  costDelta: delta.describe("This replay's mean less the other's, in their currency; null until all copies settled."),
  msDelta: delta,
  stepsDelta: delta,
  regressed: z.boolean(),
  pair: outcome.nullable().describe("From most of its compared copies; null when none is."),
});

/** A complete replay, as the endpoint for a single replay returns it. */
export const replaySchema = z
  .strictObject({
    ...replayShape,
    baselineId: z.string().nullable().describe("Its set's baseline as it is now."),
    entries: z.array(copySchema).describe("Its copies, by run in the set's order, then by copy."),
    comparison: z.array(taskRowSchema).describe("A row for each task beside `comparedWith`, regressions first."),
  })
  .meta({ title: "replay" });

/** What a run shows of its replay. */
export const replayOfRunSchema = replayRowSchema.pick({ id: true, state: true, createdAt: true, probe: true });

/** The replay that a run belongs to. */
export const runReplaySchema = z
  .strictObject({
    replay: replayOfRunSchema,
    candidate: replayCandidateShape,
    set: z.strictObject({ id: z.string(), name: z.string() }),
    search: searchShape,
    result: copySchema,
  })
  .meta({ title: "replay of a run" });

export type ReplaySummary = Shown<typeof replaySummarySchema>;
export type ReplayView = Shown<typeof replaySchema>;
export type ListedReplayView = Shown<typeof listedReplaySchema>;
export type RunReplayView = Shown<typeof runReplaySchema>;
export type ReplayRowView = Shown<typeof replayRowSchema>;
