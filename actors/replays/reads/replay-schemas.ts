import { z } from "zod";
import { spentSchema } from "../../runners/protocol.js";
import type { Shown } from "../../view.js";
import { copySchema, listedCopySchema } from "./copy-schemas.js";

/** The states of a replay (see "States and transitions" in the replays document). The last three are end states. */
export const replayStates = ["queued", "running", "finished", "stopped", "over-budget"] as const;

/** What kind of candidate a replay runs. Only proposed candidates are stored as resources. */
export const candidateKinds = ["proposed", "live", "planned", "searched", "with-answer"] as const;

const count = z.int();
const share = z.number().nullable();
const time = z.iso.datetime();
const outcome = z.enum(["win", "loss", "tie"]);
const few = z.boolean().describe("Whether the figure is based on fewer than 5 tasks, which makes it unreliable.");

/** The success rate with its 95 % interval, bootstrapped over tasks; null while no task is scored. */
export const intervalSchema = z.strictObject({ rate: z.number(), low: z.number(), high: z.number() }).nullable();

const interval = intervalSchema.describe(
  "The success rate with its 95 % interval, bootstrapped over tasks; null while no task is scored.",
);

/** The gain in success over another replay. */
export const gainSchema = z.strictObject({
  gain: z.number().describe("The gain in success on the tasks that both sides scored, paired task by task."),
  low: z.number(),
  high: z.number(),
  verdict: z.enum(["better", "worse", "within-noise"]),
  minGain: z.number().describe("The smallest gain that the line counts as real."),
  tasks: count.describe("Number of tasks that both sides scored."),
  few,
});

const totals = z.strictObject({
  successRate: share.describe(
    "The success rate, from 0 to 1: for each task the share of its scored copies that succeeded, averaged over " +
      "the scored tasks. Null while no task is scored.",
  ),
  interval,
  tasks: count,
  tasksScored: count,
  few,
  entries: count.describe("Number of copies."),
  settled: count.describe("Number of settled copies."),
  scored: count.describe("Number of scored copies."),
  unscored: count.describe("Number of copies that settled without a score."),
  spent: spentSchema.describe(
    "The costs that copies reported, including first judgings, in the ceiling's currency. Excludes amounts in " +
      "other currencies. `progress.spent` is higher: it has everything that counts against the ceiling.",
  ),
  costPerRun: spentSchema
    .nullable()
    .describe(
      "The amount spent per scored copy. Null if no copy is scored, or if a cost is unknown or in another " +
        "currency.",
    ),
});

const progress = z.strictObject({
  settled: count,
  of: count,
  spent: spentSchema.describe(
    "The amount that counts against the ceiling: `totals.spent`, second judgings, pairs, and the assumed cost " +
      "of copies and calls without a price. Can rise after the replay has ended, until `judged` is true.",
  ),
  ceiling: spentSchema,
  expectedEnd: time
    .nullable()
    .describe(
      "The expected end if copies continue to settle at the average rate since the start. Excludes judging " +
        "that remains after that. Null unless the replay is running, has a settled copy, and does not wait.",
    ),
  waiting: z
    .string()
    .nullable()
    .describe(
      "What the replay waits for; null if it does not wait. `model`: the model that judges does not respond. " +
        "`runner`: no runner has one of the replay's runs, and none can take the next one, because no suitable " +
        "runner is connected or free. `waiting` in `GET /api/runs/{runId}` of a queued copy has the reason. " +
        "Streams never report `runner`.",
    ),
});

/** The candidate of a replay, in every response that shows the replay. */
const replayCandidateShape = z.strictObject({
  id: z
    .string()
    .describe(
      "The id of the replay candidate if the kind is `proposed` or `live`. Candidates of other kinds cannot be " +
        "read as resources. The config of a candidate with the answer can only be read from its runs: `GET " +
        "/api/teams/{teamId}/runs/{runId}/config`.",
    ),
  name: z.string(),
  kind: z.enum(candidateKinds),
});

const searchShape = z
  .strictObject({ searchId: z.string(), candidateName: z.string() })
  .nullable()
  .describe(
    "The search that started the replay, and the search's name of the candidate (`seed` for the live config); " +
      "null for other replays. The search chooses candidates by their gain on the searched runs. Read the gain " +
      "on the held-out runs in the search.",
  );

/** A replay without its copies and figures, as its stream publishes it. */
export const replayRowSchema = z.strictObject({
  id: z.string(),
  setId: z.string(),
  setVersion: count.describe("The version of the set that the replay repeats."),
  lineId: z.string(),
  stationId: z.string(),
  stationKey: z.string(),
  candidate: replayCandidateShape,
  fingerprint: z.string().describe("The fingerprint of the replayed config."),
  state: z
    .enum(replayStates)
    .describe("`finished` when every copy has a result. Judging can continue until `judged` is true."),
  judged: z
    .boolean()
    .describe(
      "Whether all judging has ended and nothing more is spent. After a replay has finished, second judgings " +
        "and second checks continue, and comparisons with the replay in `pairedWith` start when that replay has " +
        "ended too.",
    ),
  repeats: count.describe("Number of copies of each run."),
  ceiling: spentSchema,
  createdAt: time,
  startedAt: time.nullable().describe("The time when a runner claimed the first copy; null before that."),
  endedAt: time.nullable(),
  probe: z
    .boolean()
    .describe(
      "Whether the replay checks the set: the changes of its copies are judged and checked a second time, for " +
        "the set's health.",
    ),
  pairedWith: z
    .string()
    .nullable()
    .describe("The replay whose changes the model compares with the changes of this replay; null if there is none."),
  search: searchShape,
  progress: progress.omit({ expectedEnd: true }),
});

const replayShape = {
  ...replayRowSchema.shape,
  progress,
  isBaseline: z
    .boolean()
    .describe("Whether the replay is the set's baseline, which other replays of the set are compared with."),
  totals,
  pairsAgainstBaseline: z
    .strictObject({ wins: count, losses: count, ties: count })
    .nullable()
    .describe("Number of tasks by the outcome of their comparison; null if `pairedWith` is null."),
  comparedWith: z
    .strictObject({ replayId: z.string(), successRate: share, interval, tasks: count, few })
    .nullable()
    .describe(
      "The replay that the gain is measured against, with its success on the tasks that both replays scored; " +
        "null if there is none.",
    ),
  againstBaseline: gainSchema
    .extend({ otherScoring: z.boolean().describe("Whether the two replays are scored differently.") })
    .nullable()
    .describe(
      "The gain over the replay in `comparedWith`; null if there is none, and while no task is scored on both " +
        "sides.",
    ),
  detectableGain: share.describe(
    "The gain that noise alone rarely exceeds between two such replays. Null with fewer than 5 tasks, and if " +
      "replays of the live config scored no task twice.",
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
  candidateScored: count.describe("Number of copies that `candidateSuccess` is based on."),
  baselineSuccess: share,
  baselineScored: count.describe("Number of copies that `baselineSuccess` is based on."),
  costDelta: delta.describe(
    "This replay's mean cost minus the other replay's mean cost, in their currency; null until all copies of " +
      "both have settled.",
  ),
  msDelta: delta,
  stepsDelta: delta,
  regressed: z.boolean(),
  pair: outcome.nullable().describe("The outcome of most of the task's compared copies; null if none was compared."),
});

/** A complete replay, as the endpoint for a single replay returns it. */
export const replaySchema = z
  .strictObject({
    ...replayShape,
    baselineId: z.string().nullable().describe("The set's current baseline; null if it has none."),
    entries: z.array(copySchema).describe("The copies of the replay, by run in the order of the set, then by copy."),
    comparison: z
      .array(taskRowSchema)
      .describe("A row for each task, compared with the replay in `comparedWith`; regressions first."),
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
