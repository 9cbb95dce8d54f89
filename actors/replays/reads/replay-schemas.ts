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
export const intervalSchema = z
  .strictObject({
    rate: z.number().describe("The success rate, from 0 to 1, averaged over the scored tasks."),
    low: z.number().describe("The lower bound of the 95 % interval, from 0 to 1."),
    high: z.number().describe("The upper bound of the 95 % interval, from 0 to 1."),
  })
  .nullable();

const interval = intervalSchema.describe(
  "The success rate with its 95 % interval, bootstrapped over tasks; null while no task is scored.",
);

/** The gain in success over another replay. */
export const gainSchema = z.strictObject({
  gain: z
    .number()
    .describe("The gain in success, from -1 to 1, on the tasks that both sides scored, paired task by task."),
  low: z.number().describe("The lower bound of the gain's 95 % interval, from -1 to 1."),
  high: z.number().describe("The upper bound of the gain's 95 % interval, from -1 to 1."),
  verdict: z
    .enum(["better", "worse", "within-noise"])
    .describe(
      "`better`: the gain is at least `minGain` and its interval is above 0. `worse`: the loss is at least `minGain` and " +
        "the interval is below 0. `within-noise`: neither.",
    ),
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
  tasks: count.describe("Number of tasks that the replay repeats."),
  tasksScored: count.describe("Number of tasks with at least one scored copy."),
  few,
  entries: count.describe("Number of copies that the replay makes in total."),
  settled: count.describe("Number of copies that have a result."),
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
  settled: count.describe("Number of copies that have stopped running, including those that wait for a judge."),
  of: count.describe("Number of copies that the replay makes in total."),
  spent: spentSchema.describe(
    "The amount that counts against the ceiling: `totals.spent`, second judgings, pairs, and the assumed cost " +
      "of copies and calls without a price. Can rise after the replay has ended, until `judged` is true.",
  ),
  ceiling: spentSchema.describe("The amount at which the replay stops starting copies."),
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
const replayCandidateShape = z
  .strictObject({
    id: z
      .string()
      .describe(
        "The id of the replay candidate if the kind is `proposed` or `live`. Candidates of other kinds cannot be " +
          "read as resources. The config of a candidate with the answer can only be read from its runs: `GET " +
          "/api/teams/{teamId}/runs/{runId}/config`.",
      ),
    name: z.string().describe("The name of the candidate, for people; the service names those that it creates."),
    kind: z
      .enum(candidateKinds)
      .describe(
        "`proposed`: a replay candidate resource. `live`: the station's config when the replay started. `planned`: the " +
          "change of a replay check. `searched`: proposed in a search. `with-answer`: the live config, whose runs receive " +
          "the expected outcome.",
      ),
  })
  .describe("The config that the replay runs its copies with.");

const searchShape = z
  .strictObject({
    searchId: z.string().describe("The id of the search (`srch_…`)."),
    candidateName: z.string().describe("The candidate's name in the search; `seed` for the live config."),
  })
  .nullable()
  .describe(
    "The search that started the replay, and the search's name of the candidate (`seed` for the live config); " +
      "null for other replays. The search chooses candidates by their gain on the searched runs. Read the gain " +
      "on the held-out runs in the search.",
  );

/** A replay without its copies and figures, as its stream publishes it. */
export const replayRowSchema = z.strictObject({
  id: z.string().describe("The id of the replay (`rep_…`)."),
  setId: z.string().describe("The replay set whose runs the replay repeats (`rset_…`)."),
  setVersion: count.describe("The version of the set that the replay repeats."),
  lineId: z.string().describe("The line of the replayed station (`line_…`)."),
  stationId: z.string().describe("The id of the replayed station."),
  stationKey: z.string().describe("The key of the replayed station in its line."),
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
  ceiling: spentSchema.describe("The maximum amount that the replay may spend. Running copies can exceed it slightly."),
  createdAt: time.describe("When the replay was created, as an RFC 3339 time."),
  startedAt: time.nullable().describe("The time when a runner claimed the first copy; null before that."),
  endedAt: time.nullable().describe("When the replay ended, as an RFC 3339 time; null until then."),
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
  progress: progress.omit({ expectedEnd: true }).describe("How far the replay is, and what it has spent."),
});

const replayShape = {
  ...replayRowSchema.shape,
  progress: progress.describe("How far the replay is, what it has spent, and what it waits for."),
  isBaseline: z
    .boolean()
    .describe("Whether the replay is the set's baseline, which other replays of the set are compared with."),
  totals: totals.describe("The success and the cost over all copies so far."),
  pairsAgainstBaseline: z
    .strictObject({
      wins: count.describe("Number of tasks whose change the judge prefers to the other replay's change."),
      losses: count.describe("Number of tasks for which the judge prefers the other replay's change."),
      ties: count.describe("Number of compared tasks without a preference."),
    })
    .nullable()
    .describe("Number of tasks by the outcome of their comparison; null if `pairedWith` is null."),
  comparedWith: z
    .strictObject({
      replayId: z.string().describe("The id of the other replay."),
      successRate: share.describe(
        "The other replay's success rate on these tasks, from 0 to 1; null while no task is scored on both sides.",
      ),
      interval,
      tasks: count.describe("Number of tasks that both replays scored."),
      few,
    })
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

const { totals: shownTotals, comparedWith, againstBaseline } = replayShape;

/** The figures of a replay without its copies, for comparison with others. */
export const replaySummarySchema = replayRowSchema
  .pick({ id: true, candidate: true, fingerprint: true, state: true, repeats: true, createdAt: true, endedAt: true })
  .extend({ totals: shownTotals, comparedWith, againstBaseline });

/** A replay in the list of its set. */
export const listedReplaySchema = z
  .strictObject({
    ...replayShape,
    entries: z.array(listedCopySchema).describe("The copies of the replay, without outputs, reasons and claims."),
  })
  .meta({ title: "replay in a list", description: "A replay without its comparison, outputs, reasons and claims." });

const delta = z.number().nullable();

/** A copy in the comparison of two replays. */
export const comparedCopySchema = z.strictObject({
  runId: z.string().nullable().describe("The latest run of the copy; null until it has one."),
  originalRunId: z.string().describe("The run of the task that the copy repeats."),
  repeat: count.describe("The number of this copy of the original run, from 1."),
  result: z
    .enum(["succeeded", "failed", "unscored"])
    .nullable()
    .describe("The result of the copy; null until it has one. `unscored`: the run says nothing about the config."),
  spent: spentSchema.nullable().describe("The cost that the copy reported; null if it reported none."),
  priced: z.boolean().describe("Whether `spent` is complete, and in the currency of the ceiling."),
  steps: count.nullable().describe("Number of steps in the copy's latest run; null until the run has ended."),
  ms: count.nullable().describe("The duration of the copy's latest run, in milliseconds; null if unknown."),
  pair: outcome
    .nullable()
    .describe("Whether the judge prefers this copy's change to the other replay's; null if they were not compared."),
});

const taskRowSchema = z.strictObject({
  taskId: z.string().describe("The task of the original runs (`task_…`)."),
  title: z.string().describe("The title of the task."),
  candidate: z.array(comparedCopySchema).describe("The copies of the task in this replay."),
  baseline: z
    .array(comparedCopySchema)
    .describe("The copies of the task in the replay in `comparedWith`; empty if there is none."),
  candidateSuccess: share.describe(
    "The share of the task's scored copies that succeeded in this replay, from 0 to 1; null if none is scored.",
  ),
  candidateScored: count.describe("Number of copies that `candidateSuccess` is based on."),
  baselineSuccess: share.describe(
    "The share of the task's scored copies that succeeded in the other replay, from 0 to 1; null if none is scored.",
  ),
  baselineScored: count.describe("Number of copies that `baselineSuccess` is based on."),
  costDelta: delta.describe(
    "This replay's mean cost minus the other replay's mean cost, in their currency; null until all copies of " +
      "both have settled.",
  ),
  msDelta: delta.describe(
    "This replay's mean run duration minus the other replay's, in milliseconds; null until all copies of both have " +
      "settled, and if a duration is unknown.",
  ),
  stepsDelta: delta.describe(
    "This replay's mean number of steps minus the other replay's; null until all copies of both have settled, and if " +
      "a number is unknown.",
  ),
  regressed: z
    .boolean()
    .describe(
      "Whether the task regressed: all scored copies of the other replay succeeded, but fewer than half of this " +
        "replay's.",
    ),
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
  .meta({ title: "replay", description: "A replay with its figures, copies and comparison." });

/** What a run shows of its replay. */
export const replayOfRunSchema = replayRowSchema.pick({ id: true, state: true, createdAt: true, probe: true });

/** The replay that a run belongs to. */
export const runReplaySchema = z
  .strictObject({
    replay: replayOfRunSchema.describe("The replay that the run belongs to."),
    candidate: replayCandidateShape,
    set: z
      .strictObject({
        id: z.string().describe("The id of the replay set (`rset_…`)."),
        name: z.string().describe("The current name of the replay set."),
      })
      .describe("The replay set that the replay repeats."),
    search: searchShape,
    result: copySchema.describe("The copy that the run belongs to, with complete outputs, reasons and claims."),
  })
  .meta({ title: "replay of a run", description: "The replay that a run belongs to, and the run's copy in it." });

export type ReplaySummary = Shown<typeof replaySummarySchema>;
export type ReplayView = Shown<typeof replaySchema>;
export type ListedReplayView = Shown<typeof listedReplaySchema>;
export type RunReplayView = Shown<typeof runReplaySchema>;
export type ReplayRowView = Shown<typeof replayRowSchema>;
