import { z } from "zod";
import { candidatePullRequestSchema } from "../../config-pull-requests/config-pull-request.js";
import { configChangeSchema } from "../../replays/candidates/replay-candidate.kind.js";
import { gainSchema, replayStates } from "../../replays/reads/replay-schemas.js";
import { spentSchema } from "../../runners/protocol.js";
import type { Shown } from "../../view.js";
import { bestReasons } from "../rules/best.js";
import { searchEndings } from "../rules/ending.js";
import { objectives } from "../rules/objective.js";
import { ABOUT_CAUSE, failureCauses, reflectionOutcomes } from "../rules/reflection.js";
import { heldOutFiguresSchema, scoreIntervalSchema, searchedFiguresSchema } from "./figure-schemas.js";

/** The states of a search (see "States and transitions" in the replays document). The last two are end states. */
export const searchStates = ["seeding", "searching", "holding-out", "finished", "stopped"] as const;
export const iterationKinds = ["propose", "reflect"] as const;
/** The description of an iteration's kind. */
export const ABOUT_ITERATION_KIND =
  "`propose`: the agent proposes candidates. `reflect`: the agent examines the failures of the best config.";
/** The states of an iteration. The last two are end states. */
export const iterationStates = ["wanted", "running", "ended", "failed"] as const;

const count = z.int();
const share = z.number().nullable();
const time = z.iso.datetime();

/** The effort levels of an agent. */
export const efforts = ["low", "medium", "high", "xhigh", "max"] as const;

const onlyOnSeenTasks = z
  .enum(["marked", "too-few-held-out"])
  .nullable()
  .describe(
    "Set for a candidate that is `better` on the searched runs. `marked`: it is not `better` on the held-out " +
      "runs, so its gain showed only on tasks that it was chosen by. `too-few-held-out`: fewer than 5 held-out " +
      "tasks are scored on both sides, which is too few to decide. Null otherwise, until `heldOutGain` is known, " +
      "and for the seed.",
  );

const best = z
  .strictObject({
    candidateId: z.string().describe("The id of the best candidate (`cand_…`)."),
    name: z.string().describe("The name that the agent gave the best candidate; `seed` for the live config."),
    seed: z.boolean().describe("Whether the best is the live config, because no better candidate was confirmed."),
    searchScore: share.describe("The success rate on the searched runs, from 0 to 1; null while no task is scored."),
    searchInterval: scoreIntervalSchema,
    searchTasks: count.describe("Number of tasks on which `searchScore` is based."),
    heldOutScore: share.describe("The success rate on the held-out runs, from 0 to 1; null while no task is scored."),
    heldOutInterval: scoreIntervalSchema,
    heldOutTasks: count.describe("Number of tasks on which `heldOutScore` is based."),
    costPerRun: spentSchema
      .nullable()
      .describe("The amount spent per scored copy of the searched runs; null if a cost is unknown."),
    onlyOnSeenTasks,
  })
  .nullable()
  .describe(
    "The candidate to choose, according to the results so far. A candidate qualifies if it beats the live " +
      "config on the searched runs, was held out, and is not `worse` on the held-out runs. With objective " +
      "`cost`, it must also be `cheaper` in `heldOutCost`. The highest score wins, then the lowest cost (with " +
      "objective `cost` the reverse), then the greatest held-out gain, then the first admitted candidate. If " +
      "none qualifies, the best is the live config. Null until the live config's replay has finished.",
  );

/** A search in a list. */
export const searchItemSchema = z
  .strictObject({
    id: z.string().describe("The id of the search (`srch_…`)."),
    lineId: z.string().describe("The line of the searched station (`line_…`)."),
    stationId: z.string().describe("The id of the station that the search finds a config for."),
    stationKey: z.string().describe("The key of the station in its line."),
    setId: z.string().describe("The replay set whose runs the search replays (`rset_…`)."),
    state: z
      .enum(searchStates)
      .describe(
        "`seeding`: replays the live config. `searching`: the agent proposes candidates, and the search replays them on " +
          "the searched runs. `holding-out`: replays the best candidates on the held-out runs. `finished` and " +
          "`stopped` are end states.",
      ),
    ending: z
      .enum(searchEndings)
      .nullable()
      .describe(
        "Why the search stopped searching; null while it searches. `iterations-used`: the last iteration " +
          "ended. `ceiling`: the rest of the ceiling covers neither the next run of the agent nor the next " +
          "replay. `no-proposals`: two iterations in a row admitted no candidate. `no-improvement`: two " +
          "iterations in a row found nothing better, after a reflection or a gain. `nothing-to-improve`: the " +
          "live config succeeded on every searched copy. `no-config-cause`: the reflection found no failure that " +
          "the config caused. `agent-failed`: two runs of the agent in a row failed. `config-changed`: the " +
          "station's config is no longer the one that the search started with. `station-left`: the station, line " +
          "or team was removed. `seed-failed`: the live config's replay did not finish or scored nothing. " +
          "`stopped`: a person stopped the search. After `station-left`, `seed-failed` and `stopped`, no " +
          "candidate is held out.",
      ),
    agent: z
      .strictObject({
        harness: z.string().describe("The harness that runs the agent, such as `command`."),
        model: z.string().nullable().describe("The agent's model; null for the harness's default."),
        effort: z.enum(efforts).nullable().describe("The agent's effort level; null for the harness's default."),
      })
      .describe("The agent that proposes candidates and examines failures."),
    budget: z
      .strictObject({
        iterations: count.describe("Maximum number of runs of the agent."),
        perIteration: count.describe("Maximum number of candidates that each run of the agent may propose."),
        ceiling: spentSchema.describe("The maximum amount that the search may spend on its replays and its agent."),
        concurrency: count.describe("Maximum number of replay runs that run at the same time, from 1 to 10."),
        repeats: count.describe("Number of copies of each run in each replay, from 1 to 5."),
      })
      .describe("The limits of the search, as its start set them."),
    objective: z.enum(objectives).describe("The objective that orders the frontier and decides the best candidate."),
    iterationsRun: count.describe("Number of runs of the agent so far, including one that is running."),
    proposed: count.describe("Number of admitted candidates that the agent proposed."),
    best,
    bestBecause: z
      .strictObject({
        code: z
          .enum(bestReasons)
          .describe("The reason, for programs. The description of `bestBecause` explains the values."),
        text: z.string().describe("The explanation of `code`, in one sentence."),
      })
      .nullable()
      .describe(
        "Why `best` was chosen. Null if `best` is null, and if an earlier release chose it. For the live " +
          "config: `no-candidate` (no candidate's replay has finished), `none-better` (no candidate beats it on " +
          "the searched runs), `none-held-out` (the candidates that beat it have no held-out gain), " +
          "`none-confirmed` (the candidates that beat it are worse on the held-out runs or, with objective " +
          "`cost`, not cheaper there). For a candidate: `only-confirmed` (no other candidate is confirmed), or " +
          "its advantage over the other confirmed candidates: `highest-score`, `cheapest`, " +
          "`greatest-held-out-gain`, `first-admitted`.",
      ),
    startedAt: time.describe("When the search started, as an RFC 3339 time."),
    endedAt: time.nullable().describe("When the search ended, as an RFC 3339 time; null until then."),
    spent: spentSchema.describe(
      "The costs that the search's replays and agent runs have reported so far, in the ceiling's currency. " +
        "Costs that are unknown or in another currency are not included, but count against the ceiling.",
    ),
  })
  .meta({ title: "search in a list", description: "A search without its iterations and candidates." });

const replayState = z
  .enum([...replayStates, "gone"])
  .nullable()
  .describe(
    "The state of the replay; null until the search requests the replay. `stopped` without a replay id: the set " +
      "had no space for the replay.",
  );

const { costPerRun, ...searchedShape } = searchedFiguresSchema.shape;

/** A candidate of a search, or its seed. */
export const searchCandidateSchema = z
  .strictObject({
    candidateId: z.string().describe("The id of the candidate (`cand_…`)."),
    name: z.string().describe("The name that the agent gave the candidate; `seed` for the live config."),
    seed: z.boolean().describe("Whether this is the live config that the search started with."),
    iteration: count.nullable().describe("The number of the iteration that proposed the candidate; null for the seed."),
    hypothesis: z
      .string()
      .nullable()
      .describe("Why the agent expects the candidate to do better; null for the seed, and if it gave no reason."),
    fingerprint: z.string().nullable().describe("The fingerprint of the candidate's config."),
    changes: z.array(configChangeSchema).describe("The changes to the live config that the search started with."),
    replayId: z
      .string()
      .nullable()
      .describe("The replay of the searched runs; for the seed, the replay of the whole set."),
    replayState,
    heldOutReplayId: z
      .string()
      .nullable()
      .describe("The replay of the held-out runs; null for the seed, whose replay of the whole set includes them."),
    heldOutReplayState: replayState,
    ...searchedShape,
    ...heldOutFiguresSchema.shape,
    costPerRun,
    spent: spentSchema.describe("The cost of the candidate's replays."),
    onFrontier: z.boolean().describe("Whether the search's `frontier` contains this candidate."),
    onlyOnSeenTasks,
    pullRequest: candidatePullRequestSchema
      .nullable()
      .describe("The config pull request. Null until a person picks the candidate, and always for the seed."),
  })
  .meta({ title: "search candidate", description: "A candidate of a search, or its seed: the live config." });

const failedTask = {
  taskId: z.string().describe("The searched task that the candidate failed (`task_…`)."),
  originalRunId: z.string().describe("The run of the task that the replay run repeats."),
  replayRunId: z.string().describe("The replay run that shows the failure."),
};

const reflection = z
  .strictObject({
    standing: z
      .string()
      .nullable()
      .describe(
        "The candidate whose failures the reflection examines: the seed if no candidate beat it. Null until the " +
          "reflection has examined them.",
      ),
    tasks: z
      .array(z.strictObject(failedTask))
      .describe("The searched tasks that the candidate failed, at most 10; never held-out tasks."),
    causes: z
      .array(
        z.strictObject({
          ...failedTask,
          cause: z.enum(failureCauses).describe(ABOUT_CAUSE),
          evidence: z.string().describe("What the agent found out, in at most 4,000 characters."),
          suggestion: z
            .string()
            .nullable()
            .describe("The change to the config that the agent suggests; null if there is none."),
          recordedAt: time.describe("When the agent recorded the cause, as an RFC 3339 time."),
        }),
      )
      .describe("The causes that the agent recorded, at most one for each task."),
    outcome: z.enum(reflectionOutcomes).nullable().describe("The outcome of the reflection; null until it ends."),
    endedSearch: z
      .boolean()
      .describe("Whether the reflection ended the search. True for every outcome except `went-on`."),
  })
  .nullable()
  .describe("Null for an iteration that proposes candidates.");

/** An iteration of a search. */
export const searchIterationSchema = z
  .strictObject({
    number: count.describe("The number of the iteration in its search, from 1."),
    kind: z.enum(iterationKinds).describe(ABOUT_ITERATION_KIND),
    runId: z
      .string()
      .nullable()
      .describe("The run of the agent. Read it with `GET /api/teams/{teamId}/search-runs/{runId}`."),
    state: z
      .enum(iterationStates)
      .describe("`wanted`: waits for a runner. `running`: the agent works. `ended`: done. `failed`: see `reason`."),
    attempts: count.describe("Number of proposals by the agent, including refused ones."),
    proposed: z.array(z.string()).describe("The ids of the admitted candidates."),
    agentSpent: spentSchema.nullable().describe("The cost of the agent's run; null until it is known."),
    reason: z.string().nullable().describe("Why the iteration failed; null if it did not fail."),
    reflection,
    wantedAt: time.describe("When the search requested the iteration, as an RFC 3339 time."),
    startedAt: time.nullable().describe("The time when a runner claimed the agent's run; null before that."),
    endedAt: time.nullable().describe("When the iteration ended or failed, as an RFC 3339 time; null until then."),
  })
  .meta({ title: "search iteration", description: "A run of the search's agent, with what it proposed or found out." });

const splitRuns = z.array(
  z.strictObject({
    runId: z.string().describe("The run of the set (`run_…`)."),
    taskId: z.string().describe("The task of the run (`task_…`)."),
  }),
);

/** A reason to doubt the results of a search. */
export const searchWarningSchema = z
  .discriminatedUnion("kind", [
    z
      .strictObject({
        kind: z
          .literal("noise-unmeasured")
          .describe("The noise of the set is unmeasured: no replay with several copies has finished."),
      })
      .describe(
        "The variation of success by chance is unknown: no replay of the live config with more than one copy " +
          "of each run has finished.",
      ),
    z
      .strictObject({
        kind: z.literal("noisy").describe("The set is too noisy for so few copies of each run."),
        spread: z.number().describe("The highest success rate of one copy of each run minus the lowest, from 0 to 1."),
        minGain: z.number().describe("The smallest gain in success, from 0 to 1, that the line counts as real."),
        neededRepeats: count.describe(
          "Number of copies of each run that reduces the noise below `minGain`. If it is more than 5, no search " +
            "can tell such a gain from noise.",
        ),
        suggestedRepeats: count.describe("The value to use for `budget.repeats`: `neededRepeats`, but at most 5."),
      })
      .describe("With so few copies of each run, success varies by chance more than a gain of `minGain`."),
    z
      .strictObject({
        kind: z.literal("saturated").describe("The live config already succeeds on almost every task."),
        rate: z.number().describe("The success rate of the live config on the set, from 0 to 1."),
      })
      .describe("The live config succeeds on more than 95 % of the set, so hardly any gain can show."),
    z
      .strictObject({
        kind: z.literal("judge-unstable").describe("The judge often contradicts its first verdict."),
        agreement: z.number().describe("The share of compared changes with the same verdict both times, from 0 to 1."),
        compared: count.describe("Number of changes that were judged twice, with a verdict both times."),
      })
      .describe("The judge often decides differently when it judges the same change again."),
    z
      .strictObject({
        kind: z
          .literal("flaky-checks")
          .describe("The station's check command gives different results for the same change."),
        flaky: count.describe("Number of changes whose check passed once and failed once."),
        rechecked: count.describe("Number of changes that were checked twice, with a result both times."),
      })
      .describe("For some changes, the check passed once and failed once."),
    z
      .strictObject({
        kind: z.literal("no-headroom").describe("The expected outcome did not help the runs beyond chance."),
        gain: z.number().describe("The gain in success over the live config, from -1 to 1."),
        low: gainSchema.shape.low,
        high: gainSchema.shape.high,
        answered: count.describe("Number of runs that were replayed with the expected outcome."),
      })
      .describe("Even when its runs received the expected outcome, the live config did not do better beyond chance."),
    z
      .strictObject({
        kind: z.literal("thin-budget").describe("The ceiling leaves too little for the live config's replay."),
        allotted: spentSchema.describe("The part of the ceiling that the live config's replay may spend."),
        expected: spentSchema.describe(
          "The expected cost of the live config's replay, by the costs of the set's runs.",
        ),
      })
      .describe("The replay of the live config may spend less than its expected cost."),
    z
      .strictObject({
        kind: z.literal("too-few-to-confirm").describe("The set has too few tasks to confirm a result."),
        heldOutTasks: count.describe("Number of tasks that the search holds out."),
        neededTasks: count.describe("Smallest number of held-out tasks that can confirm a result."),
      })
      .describe("Too few tasks are held out to confirm a gain or, with objective `cost`, a lower cost."),
    z
      .strictObject({
        kind: z.literal("judging-not-set-up").describe("The service has no model for the station's judge."),
      })
      .describe("The station has a judge, but the service has no model: copies that need a judge get no score."),
    z
      .strictObject({
        kind: z
          .literal("other-currency")
          .describe("The set's runs reported costs in another currency than the ceiling's."),
      })
      .describe(
        "Every run of the set that reported a cost used another currency than the ceiling. Each such copy " +
          "counts as a share of the ceiling, whatever its cost.",
      ),
  ])
  .meta({ title: "search warning", description: "A reason to doubt the results of a search." });

/** An earlier search over the same set. */
export const earlierSearchSchema = searchItemSchema
  .pick({ id: true, state: true, startedAt: true })
  .extend({ setVersion: count.describe("The version of the set from which that search took its runs.") });

/** A complete search, as the endpoint for a single search returns it. */
export const searchSchema = z
  .strictObject({
    ...searchItemSchema.shape,
    setVersion: count.describe("The version of the set from which the search took its runs."),
    waiting: z
      .enum(["runner", "model"])
      .nullable()
      .describe(
        "What the search waits for; null if it does not wait. `runner`: none of its runs is running, and no " +
          "suitable runner is connected or free for the agent's run or the replays. `model`: the model that " +
          "judges does not respond.",
      ),
    split: z
      .strictObject({
        searchedTasks: count.describe("Number of tasks whose runs the search chooses candidates by."),
        heldOutTasks: count.describe("Number of tasks whose runs confirm candidates."),
        searched: splitRuns.describe(
          "The runs from which the agent proposes candidates, and by which the search chooses them.",
        ),
        heldOut: splitRuns.describe("The runs that confirm candidates. The agent never sees any data of these runs."),
      })
      .describe("The set's runs, split by task into searched and held-out runs."),
    iterations: z.array(searchIterationSchema).describe("The runs of the agent, in order."),
    seed: searchCandidateSchema,
    candidates: z.array(searchCandidateSchema).describe("The candidates without the seed, in the order of admission."),
    frontier: z
      .array(z.string())
      .describe(
        "The ids of the candidates, including the seed, that no other candidate beats at the same or a lower " +
          "cost; cheapest first. With objective `cost`, only those whose `searchedGain.verdict` is `better` or " +
          "`within-noise`.",
      ),
    onlyOnSeenTasks: count.describe("Number of candidates on the frontier whose `onlyOnSeenTasks` is `marked`."),
    minGain: z
      .number()
      .describe("The smallest gain in success, from 0 to 1, that the line counted as real at the start."),
    earlierSearches: z
      .array(earlierSearchSchema)
      .describe(
        "The 20 latest earlier searches over the same set, newest first. They chose their results by the same " +
          "runs.",
      ),
    warnings: z.array(searchWarningSchema).describe("The warnings at the start of the search."),
  })
  .meta({ title: "search", description: "A search with its split, iterations, candidates and frontier." });

export type SearchItemView = Shown<typeof searchItemSchema>;
export type SearchCandidateView = Shown<typeof searchCandidateSchema>;
export type SearchIterationView = Shown<typeof searchIterationSchema>;
export type SearchView = Shown<typeof searchSchema>;

/** The estimate for a search: the most that the search may do and spend. */
export const estimateSchema = z
  .strictObject({
    searchedTasks: count.describe("Number of tasks whose runs the search would choose candidates by."),
    heldOutTasks: count.describe("Number of tasks whose runs would confirm candidates."),
    runs: z
      .strictObject({
        seed: count.describe("Maximum number of runs in the replay of the live config."),
        searchReplays: count.describe("Maximum number of runs in all replays of searched runs."),
        heldOutReplays: count.describe("Maximum number of runs in all replays of held-out runs."),
        agent: count.describe("Maximum number of runs of the search's agent."),
        total: count.describe("The sum of the other four numbers."),
      })
      .describe("Maximum number of runs that the search may start, including copies."),
    ceiling: spentSchema.describe("The ceiling of the request: the maximum amount that the search may spend."),
    perReplayAllotments: z
      .strictObject({
        seed: spentSchema.describe("The maximum amount for the replay of the live config."),
        searchReplay: spentSchema.describe("The maximum amount for each replay of the searched runs."),
        heldOutReplay: spentSchema.describe("The maximum amount for each replay of the held-out runs."),
        agentRun: spentSchema.describe("The maximum amount for each run of the search's agent."),
      })
      .describe("The maximum amount of the ceiling that each replay and each agent run may spend."),
    estimatedDuration: count
      .nullable()
      .describe("The estimated duration, in milliseconds; null if no run of the set was timed."),
    minGain: z
      .number()
      .describe("The smallest gain that counts as real: `minGain` in the line's `replayCheck`, or 0.05 without one."),
    objective: z
      .enum(objectives)
      .describe("The objective of the search: the one in the request, or the default for the set."),
    warnings: z.array(searchWarningSchema).describe("What would make the result of the search unreliable."),
  })
  .meta({ title: "search estimate", description: "The most that a search may do and spend." });
