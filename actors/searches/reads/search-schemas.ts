import { z } from "zod";
import { candidatePullRequestSchema } from "../../config-pull-requests/config-pull-request.js";
import { configChangeSchema } from "../../replays/candidates/replay-candidate.kind.js";
import { replayStates } from "../../replays/reads/replay-schemas.js";
import { spentSchema } from "../../runners/protocol.js";
import type { Shown } from "../../view.js";
import { bestReasons } from "../rules/best.js";
import { searchEndings } from "../rules/ending.js";
import { objectives } from "../rules/objective.js";
import { failureCauses, reflectionOutcomes } from "../rules/reflection.js";
import { heldOutFiguresSchema, scoreIntervalSchema, searchedFiguresSchema } from "./figure-schemas.js";

/** The states of a search (see "States and transitions" in the replays document). The last two are end states. */
export const searchStates = ["seeding", "searching", "holding-out", "finished", "stopped"] as const;
export const iterationKinds = ["propose", "reflect"] as const;
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
    "Of a candidate that is `better` on the searched runs. `marked`: on the held-out runs it is not, so that its gain " +
      "showed only on tasks that it was chosen by. `too-few-held-out`: fewer than 5 held-out tasks are scored on both " +
      "sides, which tell neither way. Null otherwise, until `heldOutGain` is known, and for the seed.",
  );

const best = z
  .strictObject({
    candidateId: z.string(),
    name: z.string(),
    seed: z.boolean().describe("Whether it is the live config: nothing better was confirmed."),
    searchScore: share,
    searchInterval: scoreIntervalSchema,
    searchTasks: count.describe("The tasks that its score is of, as `heldOutTasks`."),
    heldOutScore: share,
    heldOutInterval: scoreIntervalSchema,
    heldOutTasks: count,
    costPerRun: spentSchema.nullable(),
    onlyOnSeenTasks,
  })
  .nullable()
  .describe(
    "The candidate to choose, as far as is known. One that was never held out is never best, nor one that is `worse` " +
      "there; with objective `cost`, nor one whose `heldOutCost` is not `cheaper`. Of several the one with the highest score, " +
      "then the cheapest (with `cost` the other way round), then the greatest held-out gain, then the first. Null until " +
      "the live config was replayed.",
  );

/** A search in a list. */
export const searchItemSchema = z
  .strictObject({
    id: z.string(),
    lineId: z.string(),
    stationId: z.string(),
    stationKey: z.string(),
    setId: z.string(),
    state: z.enum(searchStates),
    ending: z
      .enum(searchEndings)
      .nullable()
      .describe(
        "Why it stopped searching; null while it searches. `iterations-used`: the last iteration ended; `ceiling`: the rest " +
          "of the ceiling pays neither the next run of the agent nor the next replay; `no-proposals`: two iterations in a " +
          "row admitted no candidate; `no-improvement`: two in a row brought nothing better, after a reflection or a gain; " +
          "`nothing-to-improve`: the live config succeeded on every searched copy; `no-config-cause`: the reflection found " +
          "no failure that the config caused; `agent-failed`: two runs of the agent in a row failed; `config-changed`: the " +
          "station's config is not the one that the search started with; `station-left`: station, line or team was removed; " +
          "`seed-failed`: the live config's replay did not finish or scored nothing; `stopped`: a person stopped it. After " +
          "the last three nothing is held out.",
      ),
    agent: z.strictObject({
      harness: z.string(),
      model: z.string().nullable().describe("Null for the harness's default, as `effort`."),
      effort: z.enum(efforts).nullable(),
    }),
    budget: z.strictObject({
      iterations: count.describe("The most times that its agent runs."),
      perIteration: count.describe("The most candidates that each of its runs may propose."),
      ceiling: spentSchema,
      concurrency: count,
      repeats: count,
    }),
    objective: z.enum(objectives).describe("What orders its frontier and its best."),
    iterationsRun: count.describe("Times that its agent ran or is running."),
    proposed: count.describe("Candidates that its agent proposed and that were admitted."),
    best,
    bestBecause: z
      .strictObject({
        code: z.enum(bestReasons),
        text: z.string().describe("The same in a sentence."),
      })
      .nullable()
      .describe(
        "Why the best is the best; null while `best` is, and for a best that an earlier release noted. Of the live config: " +
          "`no-candidate` (no candidate's replay has finished), `none-better` (none beats it on the searched runs), " +
          "`none-held-out` (those that do have no held-out gain), `none-confirmed` (those that do are worse on the held-out " +
          "runs; with objective `cost`, or not cheaper there). Of a candidate: `only-confirmed` (no other is), or what puts " +
          "it before the others that are confirmed: `highest-score`, `cheapest`, `greatest-held-out-gain`, `first-admitted`.",
      ),
    startedAt: time,
    endedAt: time.nullable(),
    spent: spentSchema.describe(
      "What its replays and its agent's runs reported so far, in the ceiling's currency. One that reports nothing in it counts " +
        "against the ceiling besides.",
    ),
  })
  .meta({ title: "search in a list" });

const replayState = z
  .enum([...replayStates, "gone"])
  .nullable()
  .describe("Null until the replay is ordered. `stopped` without an id: the set had no room for it.");

const { costPerRun, ...searchedShape } = searchedFiguresSchema.shape;

/** A candidate of a search, or its seed. */
export const searchCandidateSchema = z
  .strictObject({
    candidateId: z.string(),
    name: z.string().describe("As its agent named it; `seed` for the live config."),
    seed: z.boolean(),
    iteration: count.nullable().describe("The one that proposed it; null for the seed."),
    hypothesis: z.string().nullable(),
    fingerprint: z.string().nullable(),
    changes: z.array(configChangeSchema).describe("From the live config that the search began with."),
    replayId: z.string().nullable().describe("Of the searched runs; the seed's is of the whole set."),
    replayState,
    heldOutReplayId: z.string().nullable().describe("Null for the seed: its replay has the held-out runs too."),
    heldOutReplayState: replayState,
    ...searchedShape,
    ...heldOutFiguresSchema.shape,
    costPerRun,
    spent: spentSchema.describe("By its replays."),
    onFrontier: z.boolean(),
    onlyOnSeenTasks,
    pullRequest: candidatePullRequestSchema.nullable().describe("Null until a person picks it, and for the seed."),
  })
  .meta({ title: "search candidate" });

const failedTask = { taskId: z.string(), originalRunId: z.string(), replayRunId: z.string() };

const reflection = z
  .strictObject({
    standing: z
      .string()
      .nullable()
      .describe("The candidate whose failures it looks into: the seed when nothing is better. Null until it looked."),
    tasks: z
      .array(z.strictObject(failedTask))
      .describe("Searched tasks that it failed, 10 at most; never held-out ones."),
    causes: z.array(
      z.strictObject({
        ...failedTask,
        cause: z.enum(failureCauses),
        evidence: z.string(),
        suggestion: z.string().nullable(),
        recordedAt: time,
      }),
    ),
    outcome: z.enum(reflectionOutcomes).nullable().describe("Null until it ended."),
    endedSearch: z.boolean().describe("True for every outcome but `went-on`."),
  })
  .nullable()
  .describe("Null where it proposes.");

/** An iteration of a search. */
export const searchIterationSchema = z
  .strictObject({
    number: count,
    kind: z.enum(iterationKinds),
    runId: z.string().nullable().describe("Read at `search-runs`."),
    state: z.enum(iterationStates),
    attempts: count.describe("Times that the agent proposed, also those that were refused."),
    proposed: z.array(z.string()).describe("The ids of the candidates that were admitted."),
    agentSpent: spentSchema.nullable().describe("Null until it is known."),
    reason: z.string().nullable().describe("Why it failed; null when it did not."),
    reflection,
    wantedAt: time,
    startedAt: time.nullable().describe("When a runner took its run."),
    endedAt: time.nullable(),
  })
  .meta({ title: "search iteration" });

const splitRuns = z.array(z.strictObject({ runId: z.string(), taskId: z.string() }));

/** A reason to doubt the results of a search. */
export const searchWarningSchema = z
  .discriminatedUnion("kind", [
    z
      .strictObject({ kind: z.literal("noise-unmeasured") })
      .describe(
        "How much success moves by chance is not known: no replay of the live config with more than one copy of each run.",
      ),
    z
      .strictObject({
        kind: z.literal("noisy"),
        spread: z.number(),
        minGain: z.number(),
        neededRepeats: count.describe("More than 5: no search can tell such a gain from noise."),
        suggestedRepeats: count,
      })
      .describe("With so few repeats success moves by chance more than a gain of `minGain` would."),
    z
      .strictObject({ kind: z.literal("saturated"), rate: z.number() })
      .describe("The live config succeeds so often that hardly a gain can show."),
    z
      .strictObject({ kind: z.literal("judge-unstable"), agreement: z.number(), compared: count })
      .describe("The judge, asked again about the same change, often says something else."),
    z
      .strictObject({ kind: z.literal("flaky-checks"), flaky: count, rechecked: count })
      .describe("The check, run again on the same change, ended otherwise for some."),
    z
      .strictObject({
        kind: z.literal("no-headroom"),
        gain: z.number(),
        low: z.number(),
        high: z.number(),
        answered: count,
      })
      .describe("Told how the work should have turned out, the live config did no better beyond chance."),
    z
      .strictObject({ kind: z.literal("thin-budget"), allotted: spentSchema, expected: spentSchema })
      .describe("The replay of the live config may spend less than it is expected to cost."),
    z
      .strictObject({ kind: z.literal("too-few-to-confirm"), heldOutTasks: count, neededTasks: count })
      .describe("Too few tasks are held out to confirm any gain; with objective `cost`, any lower cost."),
    z
      .strictObject({ kind: z.literal("judging-not-set-up") })
      .describe("The station has a judge and the service has no model: no copy that is to be judged is scored."),
    z
      .strictObject({ kind: z.literal("other-currency") })
      .describe(
        "Every run of the set that reported a cost reported it in another currency than the ceiling's: a copy that does " +
          "so counts a share of the ceiling, whatever it costs.",
      ),
  ])
  .meta({ title: "search warning" });

/** An earlier search over the same set. */
export const earlierSearchSchema = searchItemSchema
  .pick({ id: true, state: true, startedAt: true })
  .extend({ setVersion: count });

/** A complete search, as the endpoint for a single search returns it. */
export const searchSchema = z
  .strictObject({
    ...searchItemSchema.shape,
    setVersion: count.describe("The version of the set that it was drawn from."),
    waiting: z
      .enum(["runner", "model"])
      .nullable()
      .describe(
        "What it waits for; null while it goes on. `runner`: none that fits is connected or free for its agent's run or " +
          "for its replays, and nothing of it runs. `model`: the model that judges does not answer for now.",
      ),
    split: z.strictObject({
      searchedTasks: count,
      heldOutTasks: count,
      searched: splitRuns.describe("What candidates are proposed from and chosen by."),
      heldOut: splitRuns.describe("What confirms them. Nothing of these is ever shown to its agent."),
    }),
    iterations: z.array(searchIterationSchema),
    seed: searchCandidateSchema,
    candidates: z.array(searchCandidateSchema).describe("Without the seed, in the order in which they were admitted."),
    frontier: z
      .array(z.string())
      .describe(
        "Candidates that none does better than for as little, cheapest first, with the seed. With objective `cost` only " +
          "those whose `searchedGain` is `better` or `within-noise`.",
      ),
    onlyOnSeenTasks: count.describe("How many candidates of the frontier are `marked`."),
    minGain: z.number(),
    earlierSearches: z
      .array(earlierSearchSchema)
      .describe("The 20 before it over the same set, newest first: what they found was chosen by the same runs."),
    warnings: z.array(searchWarningSchema).describe("Those of its budget and its split."),
  })
  .meta({ title: "search" });

export type SearchItemView = Shown<typeof searchItemSchema>;
export type SearchCandidateView = Shown<typeof searchCandidateSchema>;
export type SearchIterationView = Shown<typeof searchIterationSchema>;
export type SearchView = Shown<typeof searchSchema>;

/** The estimate for a search: the most that the search may do and spend. */
export const estimateSchema = z
  .strictObject({
    searchedTasks: count,
    heldOutTasks: count,
    runs: z
      .strictObject({ seed: count, searchReplays: count, heldOutReplays: count, agent: count, total: count })
      .describe("The most runs that it may start, with copies."),
    ceiling: spentSchema,
    perReplayAllotments: z
      .strictObject({ seed: spentSchema, searchReplay: spentSchema, heldOutReplay: spentSchema, agentRun: spentSchema })
      .describe("What each of its replays and of its agent's runs may spend of the ceiling."),
    estimatedDuration: count.nullable().describe("In milliseconds; null when no run of the set was timed."),
    minGain: z.number(),
    objective: z.enum(objectives),
    warnings: z.array(searchWarningSchema),
  })
  .meta({ title: "search estimate" });
